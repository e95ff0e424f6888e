import type { Database } from './database.js';

/** Rows that one statement deletes. */
const STEP = 1_000;

/** Rows of an account in a table. An index of the table begins with the column of the account and the key. */
interface RowsOfAccount {
  readonly table: string;
  /** The column of the account; `account_id` if omitted. */
  readonly account?: string;
  /** A column that is unique among the rows of an account, and its type. */
  readonly key: string;
  readonly type: 'text' | 'bigint' | 'bytea';
}

/** Deletes the rows of an account in the order of their key, so that no step reads what the ones before have deleted. */
export async function* deleteRows(
  database: Pick<Database, 'query'>,
  accountId: string,
  { table, account = 'account_id', key, type }: RowsOfAccount,
): AsyncGenerator<void> {
  const text = `
    WITH step AS MATERIALIZED (
      SELECT ${key} AS key FROM ${table}
      WHERE ${account} = $1 AND ($2::${type} IS NULL OR ${key} > $2) ORDER BY ${account}, ${key} LIMIT ${STEP}
    ), deleted AS (
      DELETE FROM ${table} WHERE ${account} = $1 AND ${key} = ANY (ARRAY(SELECT key FROM step))
    )
    SELECT key FROM step ORDER BY key DESC LIMIT 1`;
  for (let last: unknown = null; ;) {
    const [row] = await database.query<{ key: unknown }>(text, [accountId, last]);
    if (row === undefined) return;
    last = row.key;
    yield;
  }
}
