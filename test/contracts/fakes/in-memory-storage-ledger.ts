import {
  StorageLedger,
  type AccountDay,
  type AccountTotal,
  type PlannedStorage,
  type WrittenDay,
} from '#messages/application/storage/storage-ledger.js';
import { unavailable } from '../../support/messages.js';

/** What the unit tests of the cap use; it keeps the contract that PostgresStorageLedger keeps. */
export class InMemoryStorageLedger extends StorageLedger {
  readonly days = new Map<string, AccountDay>();
  planned: PlannedStorage = { plan: 'enterprise', maxBytes: null };
  away = false;

  add(days: readonly AccountDay[]): Promise<WrittenDay[]> {
    if (this.away) return Promise.reject(unavailable());
    return Promise.resolve(
      days.map((more) => {
        const name = `${more.accountId}/${more.day}`;
        const { bytes = 0, messages = 0 } = this.days.get(name) ?? {};
        const sum = { ...more, bytes: bytes + more.bytes, messages: messages + more.messages };
        this.days.set(name, sum);
        return { ...sum, planned: this.planned };
      }),
    );
  }

  totals(accountIds: readonly string[]): Promise<Map<string, AccountTotal>> {
    if (this.away) return Promise.reject(unavailable());
    const totals = new Map<string, number>();
    for (const { accountId, bytes } of this.days.values()) {
      if (accountIds.includes(accountId)) totals.set(accountId, (totals.get(accountId) ?? 0) + bytes);
    }
    return Promise.resolve(
      new Map([...totals].map(([accountId, bytes]) => [accountId, { bytes: Math.max(0, bytes), ...this.planned }])),
    );
  }
}
