import type { Message } from '../domain/message.js';

/** Messages that were stored together and whose jobs the queue may not have yet. */
export interface OutboxEntry {
  readonly id: string;
  readonly messages: readonly Message[];
}

/**
 * What has been stored but perhaps not queued. An entry commits with its messages and goes when their jobs are in the
 * queue, so whatever crashes in between is found and relayed again.
 */
export abstract class Outbox {
  /** Forgets entries whose jobs are in the queue. Entries that are gone already are no fault. */
  abstract remove(ids: readonly string[]): Promise<void>;

  /**
   * Hands entries that are due for longer than `minAgeMs`, or that no process but a sweeper relays, to `relay`, at most about 4 MiB of them, and removes those
   * that it relayed. What it could not relay stays for later, without holding up the rest.
   * One process sweeps at a time; for the others there is nothing to do.
   * @param relay resolves to the ids of messages that can't be queued
   * @returns how many entries were swept
   */
  abstract sweep(minAgeMs: number, relay: (messages: readonly Message[]) => Promise<Set<string>>): Promise<number>;

  /** Leaves only these messages in an entry, due again in `delayMs`. */
  abstract postpone(id: string, messageIds: readonly string[], delayMs: number): Promise<void>;
}
