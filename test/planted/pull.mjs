/** Leases of messages that clients pull. */
const STATEMENTS = 'libs/messages/adapters/postgres/lease.sql.ts';
const CONTRACT = ['test/contracts/leases.spec.ts'];

export default [
  {
    what: 'a lease skips nothing that another lease has just locked',
    file: STATEMENTS,
    find: 'ORDER BY account_id, available_at, id LIMIT $2 FOR UPDATE SKIP LOCKED',
    replace: 'ORDER BY account_id, available_at, id LIMIT $2',
    tests: CONTRACT,
  },
  {
    what: 'an acknowledgement does not compare the token of its lease',
    file: STATEMENTS,
    find: 'AND t.token = h.claim AND t.attempt = h.attempts',
    replace: 'AND t.attempt = h.attempts',
    tests: CONTRACT,
  },
];
