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
 * Open messages that nothing will deliver: `queued` or `processing`, without an outbox entry, a live job or an
 * unexpired claim. Each method reads one snapshot, so that a message that is just being handed over is not found.
 */
export abstract class StrayMessages {
  abstract count(): Promise<number>;

  /** Up to `limit` of them, oldest first. */
  abstract find(limit: number): Promise<StrayMessage[]>;

  /** Replaces the message's dead job by an outbox entry. Harmless when it is no longer a stray. */
  abstract requeue(stray: StrayMessage): Promise<void>;
}
