/** Retention, the reconciler, the recovery of the queue, and what is shared by all: connections and checks. */
const PARTITIONS = 'libs/upkeep/adapters/postgres/postgres-partitions.ts';
const PERIODS = 'libs/upkeep/adapters/postgres/migrations/0001-baseline.sql';
const RETENTION = ['test/contracts/partitions.spec.ts'];

const WORK_WHILE_QUIET = ['test/contracts/reconciler.spec.ts'];

export default [
  {
    what: 'while the installation is quiet, the reconciler overlooks messages for endpoints',
    file: 'libs/upkeep/adapters/postgres/postgres-reconciliation.ts',
    find: "status IN ('queued', 'processing') AND delivery = 'webhooks'",
    replace: "status IN ('queued', 'processing') AND delivery = 'webhook'",
    tests: WORK_WHILE_QUIET,
  },
  {
    what: 'while the installation is quiet, a walk that has found strays is not repeated',
    file: 'libs/upkeep/adapters/postgres/postgres-reconciliation.ts',
    find: "position <> '' OR strays + strays_before > 0 OR EXISTS",
    replace: "position <> '' OR EXISTS",
    tests: WORK_WHILE_QUIET,
  },
  ...['handler', 'webhooks'].map((mode) => ({
    what: `retention removes open messages for delivery by ${mode}`,
    file: PERIODS,
    find: `AND delivery = ''${mode}'')`,
    replace: 'AND false)',
    tests: RETENTION,
  })),
  {
    what: 'retention removes open messages for delivery by pull',
    file: PERIODS,
    find: 'WHERE available_at IS NOT NULL)',
    replace: 'WHERE false)',
    tests: RETENTION,
  },
  {
    what: 'retention does not look for open messages again once it has the lock',
    file: PERIODS,
    find: `  EXECUTE is_open INTO found;
  IF found THEN RETURN false; END IF;
  EXECUTE format('TRUNCATE`,
    replace: `  EXECUTE format('TRUNCATE`,
    tests: RETENTION,
  },
  {
    what: 'messages of a removed period no longer have a partition',
    file: 'libs/upkeep/adapters/postgres/migrations/0002-bounds.sql',
    find: 'CHECK (id COLLATE "POSIX" < %L)\', high);',
    replace: 'CHECK (id COLLATE "POSIX" < %L)\', begins);',
    tests: ['test/contracts/partitions.spec.ts'],
  },
  {
    what: 'stragglers that are open are removed',
    file: PARTITIONS,
    find: 'WHERE NOT ${IS_OPEN} AND updated_at < $1 AND EXISTS (SELECT FROM progress) LIMIT ${REMOVED_AT_ONCE}\n    ) AND NOT ${IS_OPEN}',
    replace: 'WHERE updated_at < $1 AND EXISTS (SELECT FROM progress) LIMIT ${REMOVED_AT_ONCE}\n    )',
    tests: RETENTION,
  },
  {
    what: 'retention ends a period too early',
    file: 'libs/upkeep/application/apply-retention.ts',
    find: 'periods.filter(({ until }) => until <= end)',
    replace: 'periods.filter(({ from }) => from <= end)',
    tests: RETENTION,
  },
  {
    what: 'the recovery of the queue never starts',
    file: 'apps/background.ts',
    find: 'open: (app) => service(app.get(QueueRecovery), RECOVER_EVERY_MS),',
    replace: 'open: (app) => ({ stop: () => app.get(QueueRecovery).close() }),',
    tests: ['test/e2e/management/queue-recovery.spec.ts'],
  },
  {
    what: 'sluice verify takes the failures of a proxy for broken guarantees',
    file: 'apps/cli/verify/service.ts',
    find: "isOfProxy: status >= 500 && !headers.has('x-request-id'),",
    replace: 'isOfProxy: false,',
    tests: ['apps/cli/verify/check-response.spec.ts'],
  },
  {
    what: 'sluice verify calls a message lost that waits',
    file: 'apps/cli/verify/check-guarantees.ts',
    find: 'else if (isOpen(message)) unknown.push(',
    replace: 'else if (isOpen(message)) undelivered.push(',
    tests: ['apps/cli/verify/check-guarantees.spec.ts'],
  },
  {
    what: 'sluice verify exits with 0 although a guarantee was broken',
    file: 'apps/cli/commands/verify.ts',
    find: 'broken: EXIT.failed',
    replace: 'broken: EXIT.ok',
    tests: ['test/cli/verify.spec.ts'],
  },
  {
    what: 'a connection in an open transaction goes back to the pool',
    file: 'libs/platform/database/database.ts',
    find: "await client?.query('ROLLBACK').catch(() => (broken = true));",
    replace: "await client?.query('ROLLBACK').catch(() => undefined);",
    tests: ['libs/platform/database/database.spec.ts'],
  },
  {
    what: 'a transaction that fails is not rolled back',
    file: 'libs/platform/database/database.ts',
    find: "      await client?.query('ROLLBACK').catch(() => (broken = true));\n",
    replace: '',
    tests: ['libs/platform/database/database.spec.ts'],
  },
  {
    what: 'a call of which one address failed counts as not sent',
    file: 'libs/client/transport.ts',
    find: 'return (inner.errors?.length ? inner.errors : [inner]).every(',
    replace: 'return (inner.errors?.length ? inner.errors : [inner]).some(',
    tests: ['test/client/calls.spec.ts'],
  },
  {
    what: 'the census does not count messages whose job has ended',
    file: 'libs/delivery/adapters/bullmq/internals/postgres/job-ends.ts',
    find: "state === 'completed' || state === 'failed' ? state : null",
    replace: "null as JobEndRow['ended']",
    tests: ['test/contracts/census.spec.ts'],
  },
  {
    what: 'the reconciler requeues messages that are claimed',
    file: 'libs/delivery/adapters/postgres/open-messages.sql.ts',
    find: 'AND (m.claim_expires_at IS NULL OR m.claim_expires_at < clock_timestamp())',
    replace: '',
    tests: ['test/contracts/census.spec.ts'],
  },
  {
    what: 'the reconciler requeues messages before their time',
    file: 'libs/delivery/adapters/postgres/postgres-stray-messages.ts',
    find: ' AND (m.deliver_at IS NULL OR m.deliver_at <= now())',
    replace: '',
    tests: ['test/contracts/census.spec.ts'],
  },
  {
    what: 'the reconciler requeues messages that are in the outbox',
    file: 'libs/delivery/adapters/postgres/postgres-stray-messages.ts',
    find: 'AND m.id NOT IN (SELECT unnest(message_ids) FROM due)',
    replace: '',
    tests: ['test/contracts/census.spec.ts'],
  },
  {
    what: 'a requeued message keeps its dead job, with which BullMQ ignores the new one',
    file: 'libs/delivery/adapters/bullmq/internals/postgres/job-ends.ts',
    find: "AND id = ANY ($2) AND state IN ('completed', 'failed') RETURNING id",
    replace: 'AND id = ANY ($2) AND false RETURNING id',
    tests: ['test/contracts/census.spec.ts'],
  },
  {
    what: 'a table has no key',
    file: 'libs/upkeep/adapters/postgres/migrations/0003-key-of-the-reconciler.sql',
    find: ' PRIMARY KEY',
    replace: '',
    tests: ['test/contracts/schema-snapshots.spec.ts'],
  },
];
