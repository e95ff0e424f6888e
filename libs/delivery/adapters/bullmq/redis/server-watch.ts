import { PeriodicTask } from '#kernel/periodic-task.js';

const EVERY_MS = 1_000;

/** The share of Redis's memory that added jobs may fill. Workers need the rest to take and to end jobs. */
const MAX_SHARE = 0.9;

/** Notices that Redis refuses commands, has little memory left, or would delete jobs to get some. */
export class ServerWatch {
  /** Whether it accepted the commands of the last check. */
  isUsable = false;
  /** No jobs may be added. */
  isNearlyFull = false;
  /** The policy by which Redis deletes keys when its memory is used up; null if it refuses commands instead. */
  eviction: string | null = null;
  private readonly checks = new PeriodicTask(() => this.check());

  constructor(
    /** Redis's own report. */
    private readonly report: () => Promise<string>,
    /** Rejects if it refuses commands that are needed. */
    private readonly requireAccepted: () => Promise<void>,
    private readonly onEviction: (policy: string) => void,
  ) {}

  start(): void {
    this.checks.start(EVERY_MS);
  }

  close(): Promise<void> {
    return this.checks.close();
  }

  async check(): Promise<void> {
    const [report, accepted] = await Promise.allSettled([this.report(), this.requireAccepted()]);
    this.isUsable = report.status === 'fulfilled' && accepted.status === 'fulfilled';
    if (report.status === 'rejected') return;
    const value = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(report.value)?.[1] ?? '';
    const max = Number(value('maxmemory'));
    this.isNearlyFull = max > 0 && Number(value('used_memory')) > MAX_SHARE * max;
    const policy = value('maxmemory_policy');
    const eviction = policy === 'noeviction' || policy === '' ? null : policy;
    if (eviction !== null && eviction !== this.eviction) this.onEviction(eviction);
    this.eviction = eviction;
  }
}
