const EXTERNAL_ID = `(SELECT external_id FROM sluice.accounts a WHERE a.id = page.account_id)`;

const COUNTS = ['accepted', 'accepted_bytes', 'delivered', 'failed', 'cancelled'];
const EACH = COUNTS.map((column) => `${column}::float8`).join(', ');
const SUMS = COUNTS.map((column) => `sum(${column})::float8 AS ${column}`).join(', ');
const NAMED = COUNTS.map((column) => `${column} AS "${column === 'accepted_bytes' ? 'acceptedBytes' : column}"`).join(
  ', ',
);

const dayOf = (time: string) => `(${time}::timestamptz AT TIME ZONE 'UTC')::date`;
const START = `day::timestamp AT TIME ZONE 'UTC'`;

/** $1: the account, $2 and $3: the first start, and the first one beyond, $4: how many. */
export const HISTORY = {
  hour: `
    SELECT start, ${NAMED} FROM (
      SELECT day, start, ${EACH} FROM sluice.usage
      WHERE account_id = $1 AND day >= ${dayOf('$2')} AND day <= ${dayOf('$3')} AND start >= $2 AND start < $3
      ORDER BY account_id, day, start LIMIT $4
    ) page ORDER BY page.day, page.start`,
  day: `
    SELECT ${START} AS start, ${NAMED} FROM (
      SELECT day, ${SUMS} FROM sluice.usage
      WHERE account_id = $1 AND day >= ${dayOf('$2')} AND day < ${dayOf('$3')}
      GROUP BY account_id, day ORDER BY account_id, day LIMIT $4
    ) page ORDER BY day`,
} as const;

/** $1 and $2: the first start, and the first one beyond, $3: how many, $4: of the first start, the accounts after this one. */
export const HISTORY_OF_ALL = {
  hour: `
    SELECT start, account_id AS "accountId", ${EXTERNAL_ID} AS "externalId", ${NAMED} FROM (
      SELECT day, start, account_id, ${EACH} FROM sluice.usage
      WHERE (day, start, account_id) > (${dayOf('$1')}, $1, $4) AND day <= ${dayOf('$2')} AND start < $2
      ORDER BY day, start, account_id LIMIT $3
    ) page ORDER BY page.day, page.start, account_id`,
  day: `
    SELECT ${START} AS start, account_id AS "accountId", ${EXTERNAL_ID} AS "externalId", ${NAMED} FROM (
      SELECT day, account_id, ${SUMS} FROM sluice.usage
      WHERE (day, account_id) > (${dayOf('$1')}, $4) AND day < ${dayOf('$2')}
      GROUP BY day, account_id ORDER BY day, account_id LIMIT $3
    ) page ORDER BY day, account_id`,
} as const;

/** Its counts outlive an account. */
export const IS_KNOWN = `
  SELECT EXISTS (SELECT FROM sluice.accounts WHERE id = $1)
      OR EXISTS (SELECT FROM sluice.usage WHERE account_id = $1) AS "isKnown"`;

/** Late messages are counted soon, unless nothing counts. */
export const PROGRESS = `
  SELECT counted, clock_timestamp() AS now,
         EXISTS (SELECT FROM sluice.usage_late WHERE noted_at < now() - interval '1 minute') AS "isStuck"
  FROM sluice.usage_progress`;

/** $1 and $2: the last message counted, and an id. */
export const HAS_UNCOUNTED = `SELECT EXISTS (SELECT FROM sluice.messages WHERE id > $1 AND id < $2) AS "hasUncounted"`;
