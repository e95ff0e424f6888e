import type { Message } from '#messages/domain/message.js';
import { idempotency } from '../support/messages.js';
import { describeMessages } from './messages.contract.js';
import type { MessagesSubject, Part } from './messages/subject.js';
import { PostgresStore } from './postgres-store.js';

const tables: Record<Part, { name: string; ids: string; isOf: string }> = {
  message: { name: 'messages', ids: 'id', isOf: 'NEW.id = $' },
  'outbox entry': { name: 'outbox', ids: 'unnest(message_ids)', isOf: '$ = ANY (NEW.message_ids)' },
  'idempotency record': { name: 'idempotency_keys', ids: 'message_id', isOf: 'NEW.message_id = $' },
};

async function refuse(store: PostgresStore, part: Part, { id }: Message, when = 'at once'): Promise<void> {
  const { name, isOf } = tables[part];
  const [kind, moment] = when === 'at once' ? ['', 'BEFORE'] : ['CONSTRAINT', 'AFTER'];
  const condition = isOf.replace('$', `'${id}'`);
  await store.sql(`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE check_violation USING MESSAGE = 'refused by the test'; END $$;
    CREATE ${kind} TRIGGER refuse ${moment} INSERT ON sluice.${name}
      ${kind === '' ? '' : 'DEFERRABLE INITIALLY DEFERRED'} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse()`);
}

async function open(): Promise<MessagesSubject> {
  const store = await PostgresStore.open();
  const [one, other] = [await store.process(), await store.process()];
  const idsOf = async (part: Part) => {
    const { ids, name } = tables[part];
    const rows = await store.sql<{ id: string }>(`SELECT ${ids} AS id FROM sluice.${name} `);
    return rows.map(({ id }) => id).sort();
  };
  return {
    messages: one.messages,
    other: other.messages,
    deliveries: other.deliveries,
    stored: async () => ({
      ...{ message: await idsOf('message'), 'outbox entry': await idsOf('outbox entry') },
      'idempotency record': await idsOf('idempotency record'),
    }),
    refuse: (part, message, when) => refuse(store, part, message, when),
    relent: () => store.relent(),
    slowDown: () =>
      store.sql(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_sleep(0.001); RETURN NEW; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON sluice.idempotency_keys FOR EACH ROW EXECUTE FUNCTION refuse()`),
    stopWhileAdding: async (message, key) => {
      const { id, accountId, createdAt } = message.state;
      const client = await store.transaction(
        'INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at) VALUES ($1, $2, $3, $4, $5)',
        [accountId, key, idempotency(key).fingerprint, id, createdAt],
      );
      return { commit: () => client.query('COMMIT'), crash: () => client.end() };
    },
    ageKeys: (ms) =>
      store.sql(`UPDATE sluice.idempotency_keys SET stored_at = stored_at - $1 * interval '1 millisecond'`, [ms]),
    somebodyWaits: () => store.somebodyWaits(),
    failNextLookUp: () => {
      const query = one.database.query.bind(one.database);
      const spy = jest.spyOn(one.database, 'query').mockImplementation((text, values) => {
        if (!text.includes('idempotency_keys k')) return query(text, values);
        spy.mockRestore();
        return Promise.reject(new Error('an odd error'));
      });
      return Promise.resolve();
    },
    cutOff: () =>
      store.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'contract'`),
    changeUntilCommit: async ({ state: { id, status, attempts, failures, retries } }) => {
      const client = await store.transaction(
        'UPDATE sluice.messages SET status = $2, attempts = $3, failures = $4, retries = $5 WHERE id = $1',
        [id, status, attempts, failures, retries],
      );
      return { commit: () => client.query('COMMIT') };
    },
    put: (message) => store.put(message),
    faults: () => [...one.faults, ...other.faults],
    reset: async () => {
      await store.reset();
      one.faults.length = other.faults.length = 0;
    },
    close: () => store.close(),
  };
}

describeMessages('PostgresMessages', open);
