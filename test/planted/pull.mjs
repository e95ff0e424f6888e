/** Leases of messages that clients pull. */
const STATEMENTS = 'libs/messages/adapters/postgres/leases/lease.sql.ts';
const ADAPTER = 'libs/messages/adapters/postgres/leases/postgres-leases.ts';
const CONTRACT = ['test/contracts/leases.spec.ts'];

export default [
  {
    what: 'an acknowledgement does not look for an earlier one after it has waited for it',
    file: ADAPTER,
    find: 'if (others.length > 0)',
    replace: 'if (others.length > ends.length)',
    tests: CONTRACT,
  },
  {
    what: 'a lease skips nothing that another lease has just locked',
    file: STATEMENTS,
    find: 'ORDER BY account_id, available_at, id LIMIT $2 FOR UPDATE SKIP LOCKED',
    replace: 'ORDER BY account_id, available_at, id LIMIT $2',
    tests: CONTRACT,
  },
  {
    what: 'messages of suspended accounts are leased',
    file: STATEMENTS,
    find: `
      AND NOT \${isHalted('$1')}`,
    replace: '',
    tests: CONTRACT,
  },
  {
    what: 'a waiting lease asks all the time while its account is paused',
    file: STATEMENTS,
    find: "CASE WHEN ${isHalted('$1')} THEN ${RESUMED_IN} ELSE 0 END",
    replace: '0',
    tests: ['test/contracts/halted-accounts.spec.ts'],
  },
  {
    what: 'messages of another account are leased',
    file: STATEMENTS,
    find: 'WHERE account_id = $1 AND available_at <= statement_timestamp()',
    replace: "WHERE $1 <> '' AND available_at <= statement_timestamp()",
    tests: ['test/e2e/leases/lease.spec.ts'],
  },
  {
    what: 'messages that are leased together share a token',
    file: STATEMENTS,
    find: 'claim = gen_random_uuid()',
    replace: 'claim = (SELECT gen_random_uuid())',
    tests: ['test/e2e/leases/end.spec.ts'],
  },
  {
    what: 'an acknowledgement does not compare the token of its lease',
    file: STATEMENTS,
    find: 'AND t.token = h.claim AND t.attempt = h.attempts',
    replace: 'AND t.attempt = h.attempts',
    tests: CONTRACT,
  },
  {
    what: 'an acknowledgement does not compare the attempt of its lease',
    file: STATEMENTS,
    find: 'AND t.token = h.claim AND t.attempt = h.attempts',
    replace: 'AND t.token = h.claim',
    tests: CONTRACT,
  },
  {
    what: 'an acknowledgement ends a lease of another account',
    file: STATEMENTS,
    find: `FROM (SELECT DISTINCT id, account_id FROM ends) t JOIN sluice.messages m USING (id, account_id)
    WHERE m.claim_expires_at > clock_timestamp() AND \${isLeased('m.delivery')}\${isOfDay('m.id')}
    ORDER BY m.id FOR UPDATE OF m
  ), ended AS MATERIALIZED (
    SELECT DISTINCT h.* FROM held h
    JOIN ends t ON t.id = h.id AND t.account_id = h.account_id AND`,
    replace: `FROM (SELECT DISTINCT id FROM ends) t JOIN sluice.messages m USING (id)
    WHERE m.claim_expires_at > clock_timestamp() AND \${isLeased('m.delivery')}
    ORDER BY m.id FOR UPDATE OF m
  ), ended AS MATERIALIZED (
    SELECT DISTINCT h.* FROM held h
    JOIN ends t ON t.id = h.id AND`,
    tests: CONTRACT,
  },
  {
    what: 'an acknowledgement ends a lease that has expired',
    file: STATEMENTS,
    find: "WHERE m.claim_expires_at > clock_timestamp() AND ${isLeased('m.delivery')}",
    replace: "WHERE ${isLeased('m.delivery')}",
    tests: CONTRACT,
  },
  {
    what: 'an acknowledgement ends the claim of a worker',
    file: STATEMENTS,
    find: "WHERE m.claim_expires_at > clock_timestamp() AND ${isLeased('m.delivery')}",
    replace: 'WHERE m.claim_expires_at > clock_timestamp()',
    tests: CONTRACT,
  },
  {
    what: 'a rejection or an extension does not compare the account',
    file: STATEMENTS,
    find: "m.id = $1 AND m.account_id = $2 AND m.claim = $3 AND m.attempts = $4 AND ${isLeased('m.delivery')}",
    replace: "m.id = $1 AND $2 <> '' AND m.claim = $3 AND m.attempts = $4 AND ${isLeased('m.delivery')}",
    tests: CONTRACT,
  },
  {
    what: 'a rejection or an extension does not compare the token of its lease',
    file: STATEMENTS,
    find: "m.id = $1 AND m.account_id = $2 AND m.claim = $3 AND m.attempts = $4 AND ${isLeased('m.delivery')}",
    replace:
      "m.id = $1 AND m.account_id = $2 AND $3::uuid IS NOT NULL AND m.attempts = $4 AND ${isLeased('m.delivery')}",
    tests: CONTRACT,
  },
  {
    what: 'a rejection or an extension is of a lease that has expired',
    file: STATEMENTS,
    find: `AND \${isLeased('m.delivery')}
  AND m.claim_expires_at > clock_timestamp()`,
    replace: "AND ${isLeased('m.delivery')}",
    tests: CONTRACT,
  },
  {
    what: 'an account learns that another one has rejected a message',
    file: STATEMENTS,
    find: 'WHERE message_id = $1 AND account_id = $2 AND number = $3 AND token = $4',
    replace: "WHERE message_id = $1 AND $2 <> '' AND number = $3 AND token = $4",
    tests: CONTRACT,
  },
  {
    what: 'an extension makes the message available at the old end of its lease',
    file: STATEMENTS,
    find: `SET claim_expires_at = clock_timestamp() + $5 * interval '1 millisecond',
      available_at = clock_timestamp() + $5 * interval '1 millisecond'`,
    replace: "SET claim_expires_at = clock_timestamp() + $5 * interval '1 millisecond'",
    tests: ['test/e2e/leases/end.spec.ts'],
  },
  {
    what: 'a message gets one attempt too many',
    file: STATEMENTS,
    find: "const USED = 'h.failures + h.crashes + 1';",
    replace: "const USED = 'h.failures + h.crashes';",
    tests: CONTRACT,
  },
  {
    what: 'expired leases fail messages that have attempts left',
    file: STATEMENTS,
    find: '${USED} >= $1 AS is_last',
    replace: '${USED} >= $1 - 1 AS is_last',
    tests: CONTRACT,
  },
  {
    what: 'leases that have not expired end',
    file: STATEMENTS,
    find: `\${isLeased('delivery')}
        AND available_at <= statement_timestamp()`,
    replace: `\${isLeased('delivery')}`,
    tests: CONTRACT,
  },
  {
    what: 'a message whose lease has expired is queued only when somebody leases',
    file: STATEMENTS,
    find: 'AND NOT h.is_last',
    replace: 'AND false',
    tests: CONTRACT,
  },
  {
    what: 'a lease that found only messages to fail is not repeated',
    file: ADAPTER,
    find: 'if (messages.length > 0 || !mayBeMore || round === MAX_ROUNDS)',
    replace: 'if (messages.length >= 0 || !mayBeMore || round === MAX_ROUNDS)',
    tests: CONTRACT,
  },
];
