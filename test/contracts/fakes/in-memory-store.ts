import type { OutboxEntry } from '#messages/application/delivering/job-dispatch.js';
import type { Attempt } from '#messages/domain/attempt.js';
import type { Message } from '#messages/domain/message.js';
import { TestClock } from '../../support/messages.js';

export interface StoredEntry {
  readonly id: string;
  readonly messageIds: readonly string[];
  readonly dueAt: Date;
  readonly forSweeper: boolean;
}

/** What the processes of a unit test share in place of a database. */
export class InMemoryStore {
  readonly clock = new TestClock();
  readonly messages = new Map<string, Message>();
  /** Attempts that have ended, by the ids of their messages. */
  readonly attempts = new Map<string, Attempt[]>();
  readonly entries = new Map<string, StoredEntry>();
  sweeping = false;
  private entryCount = 0;

  /**
   * Stores messages with one outbox entry, as `Messages.add` does for messages that arrive together.
   * @param dueAt when they are for later, which is the sweeper's
   */
  commit(messages: readonly Message[], dueAt: Date | null = null): OutboxEntry {
    for (const message of messages) this.messages.set(message.id, message);
    const id = String(++this.entryCount);
    const messageIds = messages.map((message) => message.id);
    this.entries.set(id, { id, messageIds, dueAt: dueAt ?? this.clock.now(), forSweeper: dueAt !== null });
    return { id, messages };
  }
}
