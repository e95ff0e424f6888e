import { BATCH_BYTES } from '#messages/application/delivering/job-dispatch.js';
import { Outbox, REFUSED_DELAY_MS } from '#delivery/application/outbox.js';
import { OPEN_STATUSES } from '#messages/domain/message-status.js';
import type { Message } from '#messages/domain/message.js';
import { after } from '../../support/messages.js';
import type { InMemoryStore, StoredEntry } from './in-memory-store.js';

/** What the unit tests of the relay use; it keeps the contract that PostgresOutbox keeps. */
export class InMemoryOutbox extends Outbox {
  constructor(private readonly store: InMemoryStore) {
    super();
  }

  remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.store.entries.delete(id);
    return Promise.resolve();
  }

  async sweep(minAgeMs: number, relay: (messages: readonly Message[]) => Promise<Set<string>>): Promise<number> {
    if (this.store.sweeping) return 0;
    this.store.sweeping = true;
    try {
      const entries = this.due(minAgeMs);
      if (entries.length === 0) return 0;
      const refused = await relay(entries.flatMap((entry) => this.openMessages(entry)));
      for (const { id, messageIds } of entries) {
        const rest = messageIds.filter((messageId) => refused.has(messageId));
        if (rest.length > 0) await this.postpone(id, rest);
        else this.store.entries.delete(id);
      }
      return entries.length;
    } finally {
      this.store.sweeping = false;
    }
  }

  nextIn(): Promise<number | null> {
    const due = [...this.store.entries.values()].map(({ dueAt }) => dueAt.getTime() - this.store.clock.now().getTime());
    return Promise.resolve(due.length === 0 ? null : Math.max(0, Math.min(...due)));
  }

  postpone(id: string, messageIds: readonly string[]): Promise<void> {
    const entry = this.store.entries.get(id);
    if (entry !== undefined) {
      this.store.entries.set(id, { ...entry, messageIds, dueAt: after(REFUSED_DELAY_MS, this.store.clock.now()) });
    }
    return Promise.resolve();
  }

  private due(minAgeMs: number): StoredEntry[] {
    const now = this.store.clock.now();
    let bytes = 0;
    return [...this.store.entries.values()]
      .filter(({ dueAt, forSweeper }) => dueAt <= (forSweeper ? now : after(-minAgeMs, now)))
      .filter((entry, index) => {
        for (const { state } of this.openMessages(entry)) bytes += Buffer.byteLength(state.text) + 256;
        return index === 0 || bytes <= BATCH_BYTES;
      });
  }

  private openMessages({ messageIds }: StoredEntry): Message[] {
    return messageIds
      .map((id) => this.store.messages.get(id))
      .filter((message) => message !== undefined)
      .filter(({ state }) => OPEN_STATUSES.includes(state.status));
  }
}
