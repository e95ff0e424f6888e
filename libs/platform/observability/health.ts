import { withTimeout } from '#kernel/timeout.js';

/** The readiness of a process, for orchestrators and load balancers. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: {
    readonly process: 'starting' | 'migrating' | 'serving' | 'paused' | 'stuck' | 'draining';
    readonly database: 'up' | 'down';
    /** `wrong` when it differs from the database's; alone, it does not make a process unready. */
    readonly clock: 'right' | 'wrong';
    /** If the queue is on Redis. While it is `down`, messages are accepted and wait. */
    readonly redis?: 'up' | 'down';
    /** If processes that started later have another queue: this one adds no jobs. */
    readonly queue?: 'replaced';
  };
}

/** What a process reports of its work; one without a state always serves. */
export interface Work {
  readonly state?: (() => 'serving' | 'paused' | 'stuck') | undefined;
  readonly isClockRight: () => boolean;
  /** Null without a Redis. */
  readonly isRedisUp?: (() => boolean | null) | undefined;
  readonly isQueueCurrent?: (() => boolean) | undefined;
}

/** The minimum time between two queries, however often the readiness is requested. */
const PING_EVERY_MS = 1_000;
/** Well below the default timeout of a Kubernetes probe, 1 s. */
const PING_TIMEOUT_MS = 700;

/** Whether a process can do its work: it serves, and its database responds in time. */
export class Health {
  private process: 'starting' | 'migrating' | 'serving' | 'draining' = 'starting';
  private work: Work = { isClockRight: () => true };
  private pingedAt = -Infinity;
  private isUp: Promise<boolean> = Promise.resolve(false);

  /** @param ping resolves when the database has responded */
  constructor(private readonly ping: () => Promise<unknown>) {}

  /** Reports `migrating` while the process migrates the schema, or waits for another process that does. */
  async whileMigrating(migrate: () => Promise<void>): Promise<void> {
    this.process = 'migrating';
    await migrate();
    this.process = 'starting';
  }

  /** From now on the process takes work. */
  serve(work: Work): void {
    this.work = work;
    if (this.process === 'starting') this.process = 'serving';
  }

  /** From now on the process takes no more work. */
  drain(): void {
    this.process = 'draining';
  }

  async readiness(): Promise<Readiness> {
    const database = (await this.isDatabaseUp()) ? 'up' : 'down';
    const { state = () => 'serving', isClockRight, isRedisUp = () => null, isQueueCurrent = () => true } = this.work;
    const isUp = isRedisUp();
    const redis = isUp === null ? {} : { redis: isUp ? ('up' as const) : ('down' as const) };
    const queue = isQueueCurrent() ? {} : { queue: 'replaced' as const };
    const process = this.process === 'serving' ? state() : this.process;
    const clock = isClockRight() ? 'right' : 'wrong';
    return {
      ready: process === 'serving' && database === 'up',
      checks: { process, database, clock, ...redis, ...queue },
    };
  }

  isDatabaseUp(): Promise<boolean> {
    const now = performance.now();
    if (now - this.pingedAt >= PING_EVERY_MS) {
      this.pingedAt = now;
      const responded = this.ping().then(
        () => true,
        () => false,
      );
      this.isUp = withTimeout(responded, PING_TIMEOUT_MS, () => false);
    }
    return this.isUp;
  }
}
