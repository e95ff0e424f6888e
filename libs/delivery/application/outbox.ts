import type { Message } from '#messages/index.js';

/** Milliseconds until a job that the queue refused is tried again. No entry is postponed for longer. */
export const REFUSED_DELAY_MS = 60_000;

/**
 * Stored messages that may not be in the queue yet. An entry commits with its messages and is removed once their jobs
 * are in the queue. The entries of a process that died in between are swept by another one.
 */
export abstract class Outbox {
  /** Removes entries whose jobs are in the queue; unknown ids are ignored. */
  abstract remove(ids: readonly string[]): Promise<void>;

  /**
   * Passes entries to `relay` that have been due for `minAgeMs` or that only a sweeper relays, at most about
   * `BATCH_BYTES` of them, and removes the entries that were relayed. The others are postponed, so that they do not
   * hold up the rest. When nothing else is due, the next entries of accounts that are no longer suspended become due.
   * One process sweeps at a time; for the others there is nothing to do.
   * @param relay resolves to the ids of messages that can't be queued
   * @returns the number of entries swept, or that have become due; 0 when there is nothing to do
   */
  abstract sweep(minAgeMs: number, relay: (messages: readonly Message[]) => Promise<Set<string>>): Promise<number>;

  /**
   * Milliseconds until the first entry is due, 0 if one may be due already or waits for the resumption of an account; null
   * when there is none.
   */
  abstract nextIn(): Promise<number | null>;

  /** Leaves only these messages in an entry, due again in `REFUSED_DELAY_MS`. */
  abstract postpone(id: string, messageIds: readonly string[]): Promise<void>;
}
