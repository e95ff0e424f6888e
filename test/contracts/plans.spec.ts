import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import {
  ADD_MESSAGES,
  ADD_MESSAGES_WITH_JOBS,
  type SentColumn,
} from '#messages/adapters/postgres/sending/add-messages.sql.js';
import { CHANGE_MESSAGE } from '#messages/adapters/postgres/changes/change-messages.sql.js';
import { CLAIM } from '#messages/adapters/postgres/claims/claim.sql.js';
import { FIND_MESSAGES, LIST_ATTEMPTS } from '#messages/adapters/postgres/reading/read-messages.sql.js';
import { SETTLE } from '#messages/adapters/postgres/claims/settle.sql.js';
import type { Statement } from '#messages/adapters/postgres/day-statement.js';
import type { Database } from '#platform/database/database.js';
import type { Message } from '#messages/domain/message.js';
import { aMessage, messages, SENT_AT } from '../support/messages.js';
import { PostgresStore } from './postgres-store.js';

const KINDS = ['accept', 'accept_any', 'claim', 'settle', 'change', 'find', 'attempts'] as const;
type Kind = (typeof KINDS)[number];

function statementOf(kind: Kind, batch: readonly Message[]): Statement {
  const ids = batch.map(({ id }) => id);
  const statements: Readonly<Record<Kind, Statement>> = {
    accept: { name: kind, text: ADD_MESSAGES_WITH_JOBS.text },
    accept_any: { name: kind, text: ADD_MESSAGES.text },
    claim: CLAIM.for(ids),
    settle: SETTLE.for(ids),
    change: { name: kind, text: CHANGE_MESSAGE },
    find: FIND_MESSAGES.for(ids),
    attempts: { name: kind, text: LIST_ATTEMPTS },
  };
  return statements[kind];
}

type Scalar = string | number | boolean | Date | null;
type Value = Exclude<Scalar, Date> | Scalar[];

/** The values of each statement for messages that are there, or for `accept…` as many that are not. */
function valuesOf(kind: Kind, batch: readonly Message[]): Value[] {
  const ids = batch.map(({ id }) => id);
  const all = <T>(value: T) => batch.map(() => value);
  const tokens = batch.map(() => randomUUID());
  const [first = ''] = ids;
  switch (kind) {
    case 'accept':
    case 'accept_any': {
      const sent: Partial<Record<SentColumn, Value>> = {
        id: batch.map(() => aMessage().id),
        account_id: all('acct_1'),
        text: all('hello'),
        created_at: all(SENT_AT),
        delivery: all('webhooks'),
      };
      const { columns } = kind === 'accept' ? ADD_MESSAGES_WITH_JOBS : ADD_MESSAGES;
      return columns.map((column) => sent[column] ?? all(null));
    }
    case 'claim':
      return [ids, all(0), tokens, all(45_000)];
    case 'settle':
      return [ids, tokens, all(0), all(1), all('delivered'), all(0), all(null), all(SENT_AT), all(null)];
    case 'change':
      return [first, 'acct_1', 'queued', 1_000, 0, 'cancelled', 0, 0, 0, 0, null, false, null, 'handler'];
    case 'find':
      return [ids, 'acct_1'];
    case 'attempts':
      return [first, 'acct_1'];
  }
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** How a plan reads the tables: all of it that is not a look-up of single keys. */
function readings(node: PlanNode): string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = node;
  const below = (node.Plans ?? []).flatMap(readings);
  const reads =
    /(Seq|Index|Index Only) Scan$/.test(type) && /^(messages|attempts|endpoints)_/.test(index ?? table ?? '');
  const byKey = index?.endsWith('_pkey') === true || condition?.includes('account_id = ') === true;
  const single = byKey && (index === 'endpoints_by_account' || /\b(message_)?id = /.test(condition ?? ''));
  return reads && !single ? [`${type} of ${index ?? table ?? ''}`, ...below] : below;
}

/** What a connection does after it has planned each statement as often as it takes to keep the plan. */
async function keptPlans(client: PoolClient, batch: readonly Message[]): Promise<Record<string, string[]>> {
  const plans: Record<string, string[]> = {};
  for (const kind of KINDS) {
    const { name, text } = statementOf(kind, batch);
    for (let times = 0; times < 7; times++) await client.query({ name, text, values: valuesOf(kind, batch) });
    const values = valuesOf(kind, batch).map(literal).join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE "${name}" (${values})`,
    );
    plans[kind] = rows.flatMap((row) => readings(row['QUERY PLAN'][0].Plan));
  }
  return plans;
}

function literal(value: Value): string {
  if (value === null) return 'NULL';
  if (!Array.isArray(value)) return `'${String(value)}'`;
  const items = value.map((item) => (item instanceof Date ? item.toISOString() : String(item ?? 'NULL')));
  return `'{${items.join(',')}}'`;
}

describe('Plans of what is done for every message', () => {
  let store: PostgresStore;
  let database: Database;

  beforeAll(async () => {
    store = await PostgresStore.open();
    ({ database } = await store.process());
  });
  afterAll(() => store.close());

  const fill = (from: number, to: number) =>
    store.sql(
      `WITH filled AS (
         INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
         SELECT 'msg_01m7' || lpad(n::text, 22, '0'), 'acct_' || n % 20, 'hello', 'delivered', now(), now()
         FROM generate_series($1::int, $2::int) n RETURNING id
       )
       INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome)
       SELECT id, 1, 'acct', now(), now(), 'delivered' FROM filled`,
      [from, to],
    );

  /** As autovacuum does, which leaves alone what is empty. */
  async function analyze(): Promise<void> {
    const partitions = await store.sql<{ name: string }>(
      `SELECT DISTINCT tableoid::regclass AS name FROM sluice.messages
       UNION SELECT DISTINCT tableoid::regclass FROM sluice.attempts`,
    );
    for (const { name } of partitions) await store.sql(`ANALYZE ${name}`);
  }

  it.each<[string, number, number, Date]>([
    ['is empty and its size is unknown', 0, 0, SENT_AT],
    ['is empty and its size is unknown, for messages of today', 0, 0, new Date()],
    ['was known to be small', 1, 100, SENT_AT],
    ['was known to be small, for messages of today', 101, 200, new Date()],
    ['is large', 201, 50_000, SENT_AT],
    ['is large, for messages of today', 50_001, 50_100, new Date()],
  ])('go by the key when a table %s', async (_size, from, to, createdAt) => {
    if (to > 0) {
      await fill(from, to);
      await analyze();
    }
    const batch = messages(50, { accountId: 'acct_1', createdAt });
    await store.commit(...batch);
    const plans = await database.transaction((client) => keptPlans(client, batch));
    expect(plans).toEqual(Object.fromEntries(KINDS.map((kind) => [kind, []])));
  });

  it('are made once for each connection, however few messages a batch has', async () => {
    const batch = messages(1, { accountId: 'acct_1' });
    await store.commit(...batch);
    const planned = await database.transaction(async (client) => {
      await keptPlans(client, batch);
      const { rows } = await client.query<{ name: string }>(
        'SELECT name FROM pg_prepared_statements WHERE custom_plans > 0',
      );
      return rows;
    });
    expect(planned).toEqual([]);
  });
});
