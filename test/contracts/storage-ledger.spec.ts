import { PostgresStorageLedger } from '#messages/adapters/postgres/postgres-storage-ledger.js';
import { InMemoryStorageLedger } from './fakes/in-memory-storage-ledger.js';
import { PostgresStore } from './postgres-store.js';
import { describeStorageLedger } from './storage-ledger.contract.js';

describeStorageLedger('InMemoryStorageLedger', () => {
  const ledger = new InMemoryStorageLedger();
  return Promise.resolve({
    ledger,
    other: ledger,
    removeDay: (removed) => {
      for (const [name, { day }] of ledger.days) if (day === removed) ledger.days.delete(name);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
});

describeStorageLedger('PostgresStorageLedger', async () => {
  const store = await PostgresStore.open();
  return {
    ledger: new PostgresStorageLedger((await store.process()).database),
    other: new PostgresStorageLedger((await store.process()).database),
    removeDay: async (day) => {
      await store.sql(`DELETE FROM sluice.storage WHERE day = DATE '1970-01-01' + $1::integer`, [day]);
    },
    close: () => store.close(),
  };
});
