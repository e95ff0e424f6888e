import { withTimeout } from '#kernel/timeout.js';

/** What an orchestrator or a load balancer is told. It names what is wrong and says nothing else of it. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: {
    readonly process: 'starting' | 'migrating' | 'serving' | 'paused' | 'draining';
    readonly database: 'up' | 'down';
  };
}

/** However often is asked, the database is asked at most once in so many milliseconds. */
const ASK_EVERY_MS = 1_000;
/** Well below the second that Kubernetes gives a probe. */
const PATIENCE_MS = 700;

/** Whether a process can do its work now: it serves, and its database answers in time. */
export class Health {
  private process: 'starting' | 'migrating' | 'serving' | 'draining' = 'starting';
  private takesWork: () => boolean = () => true;
  private askedAt = -Infinity;
  private answer: Promise<boolean> = Promise.resolve(false);

  /** @param ask resolves when the database has answered */
  constructor(private readonly ask: () => Promise<unknown>) {}

  /** Says so while the process brings the schema up to date, or waits for another one that does. */
  async whileMigrating(migrate: () => Promise<void>): Promise<void> {
    this.process = 'migrating';
    await migrate();
    this.process = 'starting';
  }

  /**
   * From now on the process takes work.
   * @param takesWork false while something keeps it from that
   */
  serve(takesWork: () => boolean = () => true): void {
    this.takesWork = takesWork;
    if (this.process === 'starting') this.process = 'serving';
  }

  /** From now on it takes no more. */
  drain(): void {
    this.process = 'draining';
  }

  async readiness(): Promise<Readiness> {
    const database = (await this.databaseAnswers()) ? 'up' : 'down';
    const process = this.process === 'serving' && !this.takesWork() ? 'paused' : this.process;
    return { ready: process === 'serving' && database === 'up', checks: { process, database } };
  }

  databaseAnswers(): Promise<boolean> {
    const now = performance.now();
    if (now - this.askedAt >= ASK_EVERY_MS) {
      this.askedAt = now;
      const answered = this.ask().then(
        () => true,
        () => false,
      );
      this.answer = withTimeout(answered, PATIENCE_MS, () => false);
    }
    return this.answer;
  }
}
