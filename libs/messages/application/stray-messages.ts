import type { JobEnd } from './deliveries.js';

/** A stray message, and what became of its job. */
export interface StrayMessage {
  readonly id: string;
  readonly retries: number;
  readonly jobId: string;
  /** How a worker of another program ended the job; null when none did. */
  readonly endedElsewhere: Pick<JobEnd, 'attempts' | 'failedReason' | 'run'> | null;
}

/**
 * Open messages, of those that handlers get, that nothing will deliver: `queued` or `processing`, without an outbox entry, a live job or an
 * unexpired claim. One that is just being handed over is not found.
 */
export abstract class StrayMessages {
  /** All of them, and open messages for endpoints without a delivery that is left to make. Reads every open message. */
  abstract count(): Promise<number>;

  /**
   * Those among the next `limit` open messages, by id. Each call, by any process, continues where the one before ended,
   * and after the last message at the first. Passed over are scheduled messages until they are due, and
   * those of suspended accounts. While the outbox is long, none is found: all wait for the relay.
   */
  abstract findNext(limit: number): Promise<StrayMessage[]>;

  /** Replaces the messages' dead jobs by outbox entries. Harmless for one that is no longer a stray. */
  abstract requeue(strays: readonly StrayMessage[]): Promise<void>;
}
