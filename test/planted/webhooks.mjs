/** Deliveries to endpoints, and their signatures. */
const STATEMENTS = 'libs/messages/adapters/postgres/endpoint-deliveries.sql.ts';
const ADAPTER = 'libs/messages/adapters/postgres/postgres-endpoint-deliveries.ts';
const MADE = ['test/contracts/endpoint-deliveries.spec.ts'];
const MISSED = ['test/contracts/missed-deliveries.spec.ts'];

export default [
  {
    what: 'a worker that was too late ends the delivery of another one: no token is compared',
    file: STATEMENTS,
    find: 'JOIN sluice.endpoint_deliveries d USING (message_id, endpoint_id, token)',
    replace: 'JOIN sluice.endpoint_deliveries d USING (message_id, endpoint_id)',
    tests: MADE,
  },
  {
    what: 'a delivery that is leased again keeps the token of the lost attempt',
    file: STATEMENTS,
    find: 'SET token = $3, number = next_number, started_at',
    replace: 'SET token = coalesce(d.token, $3), number = next_number, started_at',
    tests: MADE,
  },
  {
    what: 'a retried message keeps the attempts that its delivery has used up',
    file: STATEMENTS,
    find: 'due_at = excluded.due_at, ready = true, failures = 0, abandoned = NULL',
    replace: 'due_at = excluded.due_at, ready = true, abandoned = NULL',
    tests: MISSED,
  },
  {
    what: 'a replayed message keeps the attempts that its delivery has used up',
    file: STATEMENTS,
    find: 'ready = excluded.ready, failures = 0, abandoned = NULL',
    replace: 'ready = excluded.ready, abandoned = NULL',
    tests: MISSED,
  },
  {
    what: 'deliveries of suspended accounts are due',
    file: STATEMENTS,
    find: 'WHERE NOT EXISTS (SELECT FROM sluice.suspended_accounts s WHERE s.id = account_id)`;',
    replace: '`;',
    tests: MADE,
  },
  {
    what: 'a leased delivery is picked by two workers',
    file: STATEMENTS,
    find: 'ORDER BY due_at LIMIT wanted.places FOR UPDATE SKIP LOCKED',
    replace: 'ORDER BY due_at LIMIT wanted.places',
    tests: MADE,
  },
  {
    what: 'deliveries that are ready but not due are leased',
    file: STATEMENTS,
    find: 'WHERE d.endpoint_id = wanted.endpoint_id AND ready AND due_at <= statement_timestamp()',
    replace: 'WHERE d.endpoint_id = wanted.endpoint_id AND ready AND due_at IS NOT NULL',
    tests: MADE,
  },
  {
    what: 'deliveries of cancelled messages are made',
    file: STATEMENTS,
    find: "WHERE h.status IN (${OPEN}, '${DELIVERED}')",
    replace: 'WHERE true',
    tests: MADE,
  },
  {
    what: 'deliveries of cancelled messages are kept',
    file: STATEMENTS,
    find: 'AND p.message_id NOT IN (SELECT message_id FROM leased)',
    replace: 'AND false',
    tests: MADE,
  },
  {
    what: 'a replay takes a delivered message back into processing',
    file: STATEMENTS,
    find: "status = CASE m.status WHEN '${DELIVERED}' THEN m.status ELSE '${TRANSITIONS.startProcessing.to}' END",
    replace: "status = '${TRANSITIONS.startProcessing.to}'",
    tests: MISSED,
  },
  {
    what: 'attempts of two endpoints get the same number',
    file: STATEMENTS,
    find: '(h.attempts + row_number() OVER (PARTITION BY h.id ORDER BY p.endpoint_id))::int',
    replace: '(h.attempts + 1)::int',
    tests: MADE,
  },
  {
    what: 'the attempt of a lost worker is not noted',
    file: STATEMENTS,
    find: "'lost', endpoint_id FROM leased WHERE token IS NOT NULL",
    replace: "'lost', endpoint_id FROM leased WHERE false",
    tests: MADE,
  },
  {
    what: 'the first of two deliveries ends the message',
    file: STATEMENTS,
    find: 'SELECT bool_or(due_at IS NOT NULL) FROM sluice.endpoint_deliveries d WHERE d.message_id = l.id) IS NOT TRUE',
    replace:
      'SELECT bool_and(due_at IS NOT NULL) FROM sluice.endpoint_deliveries d WHERE d.message_id = l.id) IS NOT TRUE',
    tests: MADE,
  },
  {
    what: 'messages are not locked before their deliveries end: none of two that end at once sees that it is the last',
    file: ADAPTER,
    find: `        await lock(client, ids);
        await client.query({
          name: 'settle-deliveries',`,
    replace: `        await client.query({
          name: 'settle-deliveries',`,
    tests: MADE,
  },
  {
    what: 'a settled delivery does not end its message',
    file: ADAPTER,
    find: `        });
        await endMessages(client, ids);`,
    replace: '        });',
    tests: MADE,
  },
  {
    what: 'an end of a message is not awaited before the commit',
    file: ADAPTER,
    find: `      await endMessages(client, ids);
      return rows[0]?.abandoned ?? 0;`,
    replace: '      return rows[0]?.abandoned ?? 0;',
    tests: MISSED,
  },
  {
    what: 'a failure for a disabled endpoint counts against its message',
    file: STATEMENTS,
    find: "abandoned = CASE WHEN outcome = 'failed' AND NOT (${IS_ENABLED}) THEN error END",
    replace: 'abandoned = NULL',
    tests: MADE,
  },
  {
    what: 'failures of a delivery are not counted',
    file: STATEMENTS,
    find: 'failures = failures + 1, ready = false',
    replace: 'ready = false',
    tests: MADE,
  },
  {
    what: 'a delivery that is repeated does not wait',
    file: STATEMENTS,
    find: "CASE outcome WHEN 'retried' THEN clock_timestamp() + retry_ms * interval '1 millisecond' END",
    replace: "CASE outcome WHEN 'retried' THEN clock_timestamp() END",
    tests: MADE,
  },
  {
    what: 'a delivery that is being made is abandoned',
    file: STATEMENTS,
    find: 'AND (token IS NULL OR due_at <= statement_timestamp()) AND NOT (${IS_ENABLED})',
    replace: 'AND NOT (${IS_ENABLED})',
    tests: MISSED,
  },
  {
    what: 'deliveries to an endpoint that is enabled again are abandoned',
    file: STATEMENTS,
    find: 'OR due_at <= statement_timestamp()) AND NOT (${IS_ENABLED})`;',
    replace: 'OR due_at <= statement_timestamp())`;',
    tests: MISSED,
  },
  {
    what: 'a replay finds messages of every account',
    file: STATEMENTS,
    find: 'WHERE account_id >= $1 AND account_id <= $1 AND status = $5 AND id >= $2 AND id < $3',
    replace: "WHERE $1 <> '' AND status = $5 AND id >= $2 AND id < $3",
    tests: MISSED,
  },
  {
    what: 'a replay includes messages of the time at which it ends',
    file: STATEMENTS,
    find: 'AND status = $5 AND id >= $2 AND id < $3',
    replace: 'AND status = $5 AND id >= $2',
    tests: MISSED,
  },
  {
    what: 'a replay sends what is on its way again',
    file: STATEMENTS,
    find: 'WHERE d.message_id = m.id AND d.endpoint_id = $2 AND d.due_at IS NOT NULL)',
    replace: 'WHERE false)',
    tests: MISSED,
  },
  {
    what: 'a replay sends cancelled messages',
    file: STATEMENTS,
    find: "WHERE m.id = ANY ($1) AND m.status <> '${TRANSITIONS.cancel.to}' AND ${lacks('m', '$2')}",
    replace: "WHERE m.id = ANY ($1) AND ${lacks('m', '$2')}",
    tests: MISSED,
  },
  {
    what: 'a replay goes on although its client is gone',
    file: ADAPTER,
    find: 'count < max && !gone.aborted',
    replace: 'count < max',
    tests: MISSED,
  },
  {
    what: 'a retry reaches endpoints that have got the message',
    file: STATEMENTS,
    find: "IS DISTINCT FROM '${NO_ENDPOINT}' AND ${lacks('moved', 'e.id')}",
    replace: "IS DISTINCT FROM '${NO_ENDPOINT}'",
    tests: MISSED,
  },
  {
    what: 'an endpoint that is no target of a retry counts on',
    file: STATEMENTS,
    find: "WHERE d.message_id = moved.id AND moved.delivery = 'webhooks' AND NOT d.endpoint_id = ANY (${endpoints})",
    replace: 'WHERE false',
    tests: MISSED,
  },
  {
    what: 'an account sees messages of another that an endpoint has missed',
    file: 'libs/messages/adapters/postgres/read-messages.sql.ts',
    find: 'd.due_at IS NULL AND d.account_id = $1 AND',
    replace: "d.due_at IS NULL AND $1 <> '' AND",
    tests: MISSED,
  },
];
