/** Messages with an ordering key. */
const FUNCTIONS = 'libs/messages/adapters/postgres/migrations/0006-order.sql';
const MODES = 'libs/messages/adapters/postgres/migrations/0008-order-across-modes.sql';
const LINES = 'libs/messages/adapters/postgres/order/lines.sql.ts';
const ADD = 'libs/messages/adapters/postgres/sending/add-messages.sql.ts';
const SUITE = ['test/contracts/order/order.spec.ts'];
const TRAPS = ['test/contracts/order/traps.spec.ts'];
const ACROSS = ['test/contracts/order/modes.spec.ts'];
const AT_ONCE = ['test/contracts/order/at-once.spec.ts'];

export default [
  {
    what: 'a message does not wait for one that was accepted in another delivery mode',
    file: MODES,
    find: 'IS NULL AND NOT sluice.must_wait(line, key, position) ELSE false',
    replace: 'IS NULL ELSE false',
    tests: ACROSS,
  },
  {
    what: 'a message is released before one that was accepted in another delivery mode',
    file: MODES,
    find: 'WHERE NOT sluice.must_wait(first.line, first.ordering_key, first.position)',
    replace: '',
    tests: ACROSS,
  },
  {
    what: 'a message that waits for one of another delivery mode waits for ever',
    file: MODES,
    find: 'IF others IS NULL THEN RETURN; END IF;',
    replace: 'RETURN;',
    tests: ACROSS,
  },
  {
    what: 'a message that waits for one of another delivery mode is released by the reconciler',
    file: MODES,
    find: 'WHERE NOT released AND sluice.must_wait(line, ordering_key, position)',
    replace: 'WHERE false',
    tests: ACROSS,
  },
  {
    what: 'a worker does not wait for the message that it has released',
    file: 'libs/messages/adapters/postgres/claims/postgres-deliveries.ts',
    find: 'await withTimeout(released, RELEASING_MS, () => undefined);',
    replace: 'void withTimeout(released, RELEASING_MS, () => undefined);',
    tests: TRAPS,
  },
  {
    what: 'a step of a cancellation locks lines of both kinds',
    file: 'libs/messages/adapters/postgres/changes/cancel-queued.sql.ts',
    find: "WHERE (${hasEndpoints('delivery')}) = (SELECT ${hasEndpoints('delivery')} FROM found ORDER BY key LIMIT 1)",
    replace: '',
    tests: ['test/contracts/message-lists.spec.ts'],
  },
  {
    what: 'a message that was taken back stays so when it is released',
    file: MODES,
    find: 'IF taken_back IS NOT NULL THEN',
    replace: 'IF false THEN',
    tests: TRAPS,
  },
  {
    what: 'keys are not locked: their messages begin at the same time, or none does',
    file: FUNCTIONS,
    find: 'PERFORM pg_advisory_xact_lock(lock) FROM unnest(locks) AS lock;',
    replace: 'NULL;',
    tests: AT_ONCE,
  },
  {
    what: 'a sender does not see that messages of its key wait',
    file: MODES,
    find: 'WHERE o.line = m.line AND o.ordering_key = m.key ORDER BY o.position DESC LIMIT 1',
    replace: 'WHERE o.line = m.line AND o.ordering_key = m.key AND o.position < 0 ORDER BY o.position DESC LIMIT 1',
    tests: SUITE,
  },
  {
    what: 'all messages of a batch are released',
    file: MODES,
    find: 'CASE WHEN number = 1 THEN (',
    replace: 'CASE WHEN number > 0 THEN (',
    tests: SUITE,
  },
  {
    what: 'positions of a batch are in the order of ids',
    file: MODES,
    find: 'FROM (SELECT id FROM members GROUP BY id ORDER BY min(place)) one',
    replace: 'FROM (SELECT id FROM members GROUP BY id ORDER BY id) one',
    tests: SUITE,
  },
  {
    what: 'the end of a message releases no other',
    file: MODES,
    find: 'FROM gone WHERE released;',
    replace: 'FROM gone WHERE NOT released;',
    tests: SUITE,
  },
  {
    what: 'a blocked message that is cancelled releases another one',
    file: MODES,
    find: 'FROM gone WHERE released;',
    replace: 'FROM gone;',
    tests: SUITE,
  },
  {
    what: 'those that were retried while another one was running are forgotten',
    file: MODES,
    find: 'array_agg(least(position, waiting_since)) INTO',
    replace: 'array_agg(position) INTO',
    tests: SUITE,
  },
  {
    what: 'a retried message overtakes one that is being delivered',
    file: FUNCTIONS,
    find: "AND m.status = 'queued' AND m.failure_reason IS NULL",
    replace: 'AND m.failure_reason IS NULL',
    tests: SUITE,
  },
  {
    what: 'a retried message overtakes one that waits for its next attempt',
    file: FUNCTIONS,
    find: "AND m.status = 'queued' AND m.failure_reason IS NULL",
    replace: "AND m.status = 'queued'",
    tests: SUITE,
  },
  {
    what: 'a message is claimed although it was taken back',
    file: 'libs/messages/adapters/postgres/claims/claim.sql.ts',
    find: "CASE WHEN ${isTakenBack('messages')} THEN",
    replace: 'CASE WHEN false THEN',
    tests: TRAPS,
  },
  {
    what: 'a retried delivery to an endpoint overtakes one that is being made',
    file: FUNCTIONS,
    find: 'AND d.token IS NULL AND d.failures = 0',
    replace: '',
    tests: SUITE,
  },
  {
    what: 'a cancelled message waits for a delivery that is being leased: both deadlock',
    file: FUNCTIONS,
    find: 'WHERE message_id = ANY (ids) AND due_at IS NOT NULL FOR UPDATE SKIP LOCKED',
    replace: 'WHERE message_id = ANY (ids) AND due_at IS NOT NULL FOR UPDATE',
    tests: TRAPS,
  },
  {
    what: 'deliveries of an endpoint that is disabled stay in their lines',
    file: 'libs/webhooks/adapters/postgres/postgres-endpoint-deliveries.ts',
    find: 'await leaveLines(ids, endpoints);',
    replace: '',
    tests: TRAPS,
  },
  {
    what: 'what has ended without leaving its line holds up those behind it',
    file: MODES,
    find: 'AND NOT sluice.is_open(o.line, o.message_id)',
    replace: 'AND false',
    tests: TRAPS,
  },
  {
    what: 'messages that wait for others are taken for strays',
    file: 'libs/delivery/adapters/postgres/postgres-stray-messages.ts',
    find: 'page.filter(({ is_due, is_blocked }) => is_due && !is_blocked)',
    replace: 'page.filter(({ is_due }) => is_due)',
    tests: TRAPS,
  },
  {
    what: 'a worker that ends a message leaves the next one to the sweeper',
    file: 'libs/messages/adapters/postgres/order/releases.ts',
    find: 'if (entries.length > 0) await',
    replace: 'if (entries.length > 10) await',
    tests: TRAPS,
  },
  {
    what: 'a blocked message to be pulled may be leased',
    file: ADD,
    find: "`CASE WHEN ${IS_BLOCKED} THEN 'infinity' ELSE",
    replace: "`CASE WHEN false THEN 'infinity' ELSE",
    tests: SUITE,
  },
  {
    what: 'an expired last lease releases nothing',
    file: LINES,
    find: 'FROM ${ended} WHERE position IS NOT NULL',
    replace: 'FROM ${ended} WHERE position IS NULL',
    tests: TRAPS,
  },
];
