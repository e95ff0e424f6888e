import pg from 'pg';
import { KeySecrets } from '#accounts/application/key-secrets.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import { PEPPER } from './sluice.js';

const DAYS = 25;
/** Rows of one statement. */
const AT_ONCE = 100_000;
const LIMIT = 1_000_000_000;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** API keys for accounts still to be created; the first belongs to the big account. */
export interface Key {
  readonly key: string;
  readonly hash: Buffer;
}

export function makeKeys(count: number): Key[] {
  const secrets = new KeySecrets(PEPPER);
  return Array.from({ length: count }, () => secrets.issue());
}

/*
 * TypeIDs in SQL. The first ten characters are the time, in milliseconds, of a UUID of version 7; `e` and `8` carry its
 * version and variant, and hexadecimal digits are valid in base32.
 */
const suffixOf = (ms: string, twelveDigits: string) =>
  `${[45, 40, 35, 30, 25, 20, 15, 10, 5, 0]
    .map((shift) => `substr('${ALPHABET}', 1 + ((${ms} >> ${shift}) & 31)::int, 1)`)
    .join(' || ')} || 'e008' || ${twelveDigits}`;
const ACCOUNT_ID = (n: string) => `'acct_01m7z2cmr5e008' || lpad(to_hex(${n}), 12, '0')`;
const KEY_ID = (n: string) => `'key_01m7z2cmr5e008' || lpad(to_hex(${n}), 12, '0')`;
export const BIG_ACCOUNT = 'acct_01m7z2cmr5e008000000000000';

const ACCOUNTS = `
  INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at)
  SELECT ${ACCOUNT_ID('n')}, 'Account ' || n, 'enterprise', ${LIMIT}, ${LIMIT}, now() - interval '${DAYS} days'
  FROM generate_series(0, $1::int - 1) n`;

const KEYS = `
  INSERT INTO sluice.api_keys (id, account_id, name, hash, scopes, created_at)
  SELECT ${KEY_ID('(n - 1)::int')}, ${ACCOUNT_ID('(n - 1)::int')}, 'key', hash,
         ARRAY['messages:send', 'messages:read', 'account:manage'], now() - interval '${DAYS} days'
  FROM unnest($1::bytea[]) WITH ORDINALITY AS t (hash, n)`;

/** Rows $2 to $3 of $4, in order of time, each with its one attempt. A tenth of them belongs to the big account. */
const MESSAGES = `
  WITH numbered AS (
    SELECT n, ($5::float8 - ${DAYS * 86_400_000}::float8 * (1 - n::float8 / $4::float8))::bigint AS ms,
           CASE WHEN n % 10 = 0 THEN 0 ELSE 1 + (n * 2654435761 % ($1::bigint - 1)) END AS account
    FROM generate_series($2::bigint, $3::bigint) n
  ), stored AS (
    INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, attempts)
    SELECT 'msg_' || ${suffixOf('ms', 'substr(md5(n::text), 1, 12)')}, ${ACCOUNT_ID('account')}, repeat('stored ', 26),
           'delivered', to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0) + interval '200 milliseconds', 1
    FROM numbered
    RETURNING id, account_id, updated_at
  )
  INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome)
  SELECT id, 1, account_id, updated_at - interval '50 milliseconds', updated_at, 'delivered' FROM stored`;

/** Creates a database with one account per key and messages delivered over the last ${DAYS} days. */
export async function seedDatabase(
  bench: BenchEnvironment,
  keys: readonly Key[],
  rows: number,
): Promise<BenchDatabase> {
  const store = await bench.database();
  // A separate connection: loading a chunk may exceed the timeout of the pool.
  const client = new pg.Client({ connectionString: store.url });
  await client.connect();
  try {
    await client.query(ACCOUNTS, [keys.length]);
    await client.query(KEYS, [keys.map(({ hash }) => hash)]);
    const until = Date.now() - 60_000;
    for (let first = 1; first <= rows; first += AT_ONCE) {
      const last = Math.min(rows, first + AT_ONCE - 1);
      await client.query(MESSAGES, [keys.length, first, last, rows, until]);
      if (last % 1_000_000 === 0) process.stdout.write(`stored ${last.toLocaleString('en')} messages\n`);
    }
    // Otherwise autovacuum would run during the measurement.
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
  return store;
}
