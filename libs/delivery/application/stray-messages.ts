import type { JobEnd } from '#messages/index.js';

/** A stray message, and what became of its job. */
export interface StrayMessage {
  readonly id: string;
  readonly retries: number;
  readonly jobId: string;
  /** How a worker of another program ended the job; null when none did. */
  readonly endedElsewhere: Pick<JobEnd, 'attempts' | 'failedReason' | 'run'> | null;
}

/**
 * Open messages for handlers that nothing will deliver: they have no outbox entry, no live job and no unexpired claim. A
 * message that is just on its way from one to the next is not found.
 */
export abstract class StrayMessages {
  /** The census: all strays, and open messages for endpoints without a delivery to make. Reads every open message. */
  abstract count(): Promise<number>;

  /**
   * The strays among the next `limit` open messages, by id. Each call, by any process, continues where the previous
   * call ended, and starts again after the last message. Messages that are not due yet and messages of suspended
   * accounts are skipped. While the outbox is long, none is found, since most wait for the relay.
   */
  abstract findNext(limit: number): Promise<StrayMessage[]>;

  /** Replaces the messages' dead jobs by outbox entries. Harmless for one that is no longer a stray. */
  abstract requeue(strays: readonly StrayMessage[]): Promise<void>;
}
