/** Accepting, reading, changing and retrying messages. */
const ADD = 'libs/messages/adapters/postgres/sending/add-messages.sql.ts';
const READ = 'libs/messages/adapters/postgres/reading/read-messages.sql.ts';
const INDEX = 'libs/messages/adapters/postgres/reading/message-index.sql.ts';
const CANCEL = 'libs/messages/adapters/postgres/changes/cancel-queued.sql.ts';
const CHANGE = 'libs/messages/adapters/postgres/changes/change-messages.sql.ts';
const BATCH = 'libs/messages/application/sending/send-batch.ts';
const ONE = 'libs/messages/application/sending/send-message.ts';
const KEYS = 'libs/messages/domain/idempotency.ts';
const CONTRACT = ['test/contracts/messages.spec.ts'];
const LISTS = ['test/contracts/message-lists.spec.ts'];
const SENT = ['libs/messages/application/sending/send-messages.spec.ts'];

export default [
  {
    what: 'the fingerprint of a batch lacks deliverAt',
    file: KEYS,
    find: 'optional === null ? [text, deliverAt] :',
    replace: 'optional === null ? [text] :',
    tests: SENT,
  },
  {
    what: 'the fingerprint of a message lacks deliverAt',
    file: KEYS,
    find: "deliverAt === null ? 'send:'",
    replace: "deliverAt !== undefined ? 'send:'",
    tests: SENT,
  },
  {
    what: 'a repeated batch counts as stored again',
    file: BATCH,
    find: 'if (!accepted.replayed) this.storage',
    replace: 'this.storage',
    tests: SENT,
  },
  {
    what: 'a repeated message counts as stored again',
    file: ONE,
    find: 'if (!accepted.replayed) this.storage',
    replace: 'this.storage',
    tests: SENT,
  },
  {
    what: 'a batch does not count its deliveries to endpoints',
    file: BATCH,
    find: 'this.storage.count(batch, accepted.deliveries)',
    replace: 'this.storage.count(batch)',
    tests: SENT,
  },
  {
    what: 'an account finds messages of another one',
    file: READ,
    find: "${isOfDay('id')} AND account_id = $2`,",
    replace: "${isOfDay('id')} AND $2 <> ''`,",
    tests: CONTRACT,
  },
  {
    what: 'an account lists messages of another one',
    file: INDEX,
    find: '`account_id >= $1 AND account_id <= $1 AND status = ${status}`',
    replace: '`account_id >= $1 AND status = ${status}`',
    tests: CONTRACT,
  },
  {
    what: 'an account lists attempts of another one',
    file: READ,
    find: 'SELECT * FROM sluice.messages WHERE id = $1 AND account_id = $2',
    replace: "SELECT * FROM sluice.messages WHERE id = $1 AND $2 <> ''",
    tests: CONTRACT,
  },
  {
    what: 'a page repeats the last message of the page before',
    file: INDEX,
    find: "${key('id')} < ${key('$2')}",
    replace: "${key('id')} <= ${key('$2')}",
    tests: CONTRACT,
  },
  {
    what: 'an account lists messages by type of another one',
    file: INDEX,
    find: '`account_id = $1 AND status = ${status}',
    replace: "`$1 <> '' AND status = ${status}",
    tests: LISTS,
  },
  {
    what: 'a list by type has messages of other types',
    file: INDEX,
    find: "'type = $5'",
    replace: "'type >= $5'",
    tests: LISTS,
  },
  {
    what: 'a list by a long beginning of types has messages with another word at its end',
    file: INDEX,
    find: 'starts_with(type, $5) AND ',
    replace: '',
    tests: LISTS,
  },
  {
    what: 'a list has messages from before the time at which it begins',
    file: INDEX,
    find: "${key('id')} >= ${key('$4')}",
    replace: '$4::text IS NOT NULL',
    tests: LISTS,
  },
  {
    what: 'many are cancelled, also those that a worker has claimed meanwhile',
    file: CANCEL,
    find: "id = ANY (ARRAY(SELECT id FROM page)) AND status = '${from}'",
    replace: 'id = ANY (ARRAY(SELECT id FROM page))',
    tests: LISTS,
  },
  {
    what: 'cancelling many ends at a step of which workers have claimed some',
    file: 'libs/messages/adapters/postgres/postgres-messages.ts',
    find: 'if (row.found < atOnce) break;',
    replace: 'if (row.count < atOnce) break;',
    tests: LISTS,
  },
  {
    what: 'messages that are cancelled together keep their jobs',
    file: 'libs/messages/application/changes/cancel-queued.ts',
    find: 'some.map((id) => this.jobs.remove(id))',
    replace: 'some.map((id) => Promise.resolve(id))',
    tests: ['test/e2e/cancel-messages/202.spec.ts'],
  },
  {
    what: 'a page shows one message more than its limit',
    file: READ,
    find: 'WHERE place <= $3 AND',
    replace: 'WHERE place <= $3 + 1 AND',
    tests: CONTRACT,
  },
  {
    what: 'a change does not compare the status that it has read',
    file: CHANGE,
    find: 'WHERE id = $1 AND status = $3 AND attempts = $4 AND retries = $5',
    replace: "WHERE id = $1 AND $3 <> '' AND attempts = $4 AND retries = $5",
    tests: CONTRACT,
  },
  {
    what: 'a change does not compare the attempts that it has read',
    file: CHANGE,
    find: 'WHERE id = $1 AND status = $3 AND attempts = $4 AND retries = $5',
    replace: 'WHERE id = $1 AND status = $3 AND $4::int IS NOT NULL AND retries = $5',
    tests: CONTRACT,
  },
  {
    what: 'a change does not compare the retries that it has read',
    file: CHANGE,
    find: 'WHERE id = $1 AND status = $3 AND attempts = $4 AND retries = $5',
    replace: 'WHERE id = $1 AND status = $3 AND attempts = $4 AND $5::int IS NOT NULL',
    tests: CONTRACT,
  },
  {
    what: 'a retried message has no outbox entry',
    file: CHANGE,
    find: "(SELECT * FROM retried WHERE ${hasJob('delivery')} AND position IS NULL) retried",
    replace: '(SELECT * FROM retried WHERE false) retried',
    tests: CONTRACT,
  },
  {
    what: 'messages retried by time have no outbox entry',
    file: CHANGE,
    find: "insertEntriesToSweep(`moved WHERE ${hasJob('delivery')} AND position IS NULL`)",
    replace: 'insertEntriesToSweep(`moved WHERE false`)',
    tests: CONTRACT,
  },
  {
    what: 'a retry by time includes messages of the time at which it ends',
    file: INDEX,
    find: "${key('id')} < ${key('$2')} AND ${key('id')} >= ${key('$4')}\n  ORDER",
    replace: "${key('$2')} <> '' AND ${key('id')} >= ${key('$4')}\n  ORDER",
    tests: CONTRACT,
  },
  {
    what: 'a message is stored although its key was used',
    file: ADD,
    find: 'WHERE ${IS_ACCEPTED}',
    replace: 'WHERE true',
    tests: CONTRACT,
  },
  {
    what: 'keys are inserted in the order of the requests',
    file: ADD,
    find: 'FROM input WHERE key IS NOT NULL\n    ORDER BY account_id, key',
    replace: 'FROM input WHERE key IS NOT NULL',
    tests: CONTRACT,
  },
  {
    what: 'a scheduled message is due at once',
    file: ADD,
    find: 'CASE WHEN deliver_at > now() THEN deliver_at END AS due_at',
    replace: 'NULL::timestamptz AS due_at',
    tests: ['test/e2e/post-messages/202-deliver-at.spec.ts'],
  },
  {
    what: 'a fingerprint is not compared',
    file: 'libs/messages/adapters/postgres/sending/idempotency-keys.ts',
    find: 'idempotency?.fingerprint.equals(use.fingerprint) !== true',
    replace: 'idempotency === null',
    tests: CONTRACT,
  },
  {
    what: 'a key of another account replays its response',
    file: 'libs/messages/adapters/postgres/sending/idempotency-keys.ts',
    find: 'JOIN sluice.idempotency_keys k USING (account_id, key)`',
    replace: 'JOIN sluice.idempotency_keys k USING (key)`',
    tests: CONTRACT,
  },
  {
    what: 'expired keys that are young are deleted',
    file: 'libs/messages/adapters/postgres/sending/idempotency-keys.ts',
    find: '`stored_at <= statement_timestamp() - ${lifetimeMs}',
    replace: '`stored_at <= statement_timestamp() - 0.5 * ${lifetimeMs}',
    tests: ['test/contracts/reconciler.spec.ts'],
  },
  {
    what: 'an account stores more than its plan allows',
    file: 'libs/messages/application/storage/storage-cap.ts',
    find: 'return planned?.maxBytes ?? byDefault;',
    replace: 'return Math.max(planned?.maxBytes ?? 0, byDefault);',
    tests: ['libs/messages/application/storage/storage-cap.spec.ts'],
  },
];
