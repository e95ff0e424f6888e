import type { JobEnd } from '#messages/index.js';
import type { ForeignEnd } from './foreign-end.js';

/** A stray message, and what became of its job. */
export interface StrayMessage {
  readonly id: string;
  readonly retries: number;
  readonly jobId: string;
  /** How a worker of another program ended the job; null when none did. */
  readonly endedElsewhere: JobEnd | null;
}

export interface StrayPage {
  readonly strays: readonly StrayMessage[];
  /** The last message of the page; '' when there are no more. */
  readonly position: string;
}

/**
 * Open messages for handlers that nothing will deliver: they have no outbox entry, no live job and no unexpired claim, and
 * wait for no other message with their ordering key. A message that is just on its way from one to the next is not found.
 */
export abstract class StrayMessages {
  /**
   * The census: all strays, open messages for endpoints without a delivery to make, and ordering keys of which messages wait
   * and none is on its way. Reads every open message.
   */
  abstract count(): Promise<number>;

  /**
   * The strays among the next `limit` open messages, by id. Messages that are not due yet and messages of suspended
   * accounts are skipped.
   * @returns null while the outbox is long, since most messages wait for the relay
   */
  abstract findAfter(after: string, limit: number): Promise<StrayPage | null>;

  /** Replaces the messages' dead jobs by outbox entries. Harmless for one that is no longer a stray. */
  abstract requeue(strays: readonly StrayMessage[]): Promise<void>;

  /** Inserts outbox entries for the open messages that have these jobs. */
  abstract requeueJobs(jobIds: readonly string[]): Promise<void>;

  /** What the ends of these jobs mean for their messages, as far as those are open and no worker of ours has them. */
  abstract endsOfOpen(ends: ReadonlyMap<string, ForeignEnd>): Promise<JobEnd[]>;
}
