/** The usage history: that each message is counted once, and that nobody sees the counts of another account. */
const COUNT = 'libs/usage/adapters/postgres/count.sql.ts';
const LEDGER = 'libs/usage/adapters/postgres/postgres-usage-ledger.ts';
const COUNTED = ['test/contracts/usage.spec.ts'];
const ENDED = ['test/contracts/usage-ends.spec.ts'];
const SHOWN = ['test/e2e/accounts/usage-history.spec.ts'];

export default [
  {
    what: 'caches take the usage that one origin got for that of another',
    file: 'libs/usage/adapters/http/history-response.ts',
    find: "reply.raw.appendHeader('Vary',",
    replace: "void reply.header('Vary',",
    tests: ['test/e2e/edge/cors.spec.ts'],
  },
  {
    what: 'while the installation is quiet, late messages are not counted',
    file: 'libs/usage/adapters/postgres/count.sql.ts',
    find: ') OR EXISTS (SELECT FROM sluice.usage_late)\n    OR',
    replace: ') OR',
    tests: ['test/contracts/usage.spec.ts'],
  },
  {
    what: 'usage is counted without waiting for transactions that may still store messages',
    file: LEDGER,
    find: 'while (writers.length > 0 &&',
    replace: 'writers = [];\n    while (writers.length > 0 &&',
    tests: COUNTED,
  },
  {
    what: 'usage forgets messages that are stored after their hour was counted',
    file: 'libs/usage/adapters/postgres/migrations/0001-baseline.sql',
    find: 'WHERE id <= (SELECT closing FROM sluice.usage_progress)',
    replace: 'WHERE false',
    tests: COUNTED,
  },
  {
    what: 'usage counts late messages twice',
    file: COUNT,
    find: 'WHERE message_id > $1 AND message_id <= (SELECT id FROM reached) AND EXISTS (SELECT FROM progress)',
    replace: 'WHERE false',
    tests: COUNTED,
  },
  {
    what: 'usage is counted twice by processes that count at the same time',
    file: COUNT,
    find: 'SELECT FROM sluice.usage_progress WHERE counted = $1 FOR UPDATE',
    replace: 'SELECT FROM sluice.usage_progress',
    tests: COUNTED,
  },
  {
    what: 'usage of an hour is lost when its messages are removed',
    file: COUNT,
    find: 'undelivered >= accepted OR has_delivered AS is_stored',
    replace: 'true AS is_stored',
    tests: ENDED,
  },
  {
    what: 'usage is not counted before messages are removed',
    file: 'libs/upkeep/application/apply-retention.ts',
    find: 'const isCounted = await this.usage.execute(period, signal);',
    replace: 'const isCounted = true;',
    tests: ENDED,
  },
  {
    what: 'usage of an hour that is over is shown before it is complete',
    file: 'libs/usage/adapters/postgres/postgres-usage-history.ts',
    find: 'return row?.hasUncounted === true;',
    replace: 'return row === undefined;',
    tests: COUNTED,
  },
  {
    what: 'usage of another account is shown',
    file: 'libs/usage/adapters/postgres/history.sql.ts',
    find: "WHERE account_id = $1 AND day >= ${dayOf('$2')} AND day <= ${dayOf('$3')} AND start >= $2 AND start < $3",
    replace: "WHERE $1 <> '' AND day >= ${dayOf('$2')} AND day <= ${dayOf('$3')} AND start >= $2 AND start < $3",
    tests: SHOWN,
  },
  {
    what: 'usage in CSV has formulas',
    file: 'libs/usage/adapters/http/csv.ts',
    find: 'FORMULA.test(text) ?',
    replace: "FORMULA.test('') ?",
    tests: ['libs/usage/adapters/http/csv.spec.ts'],
  },
];
