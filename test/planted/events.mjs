/** The event log and its streams. */
const STATEMENTS = 'libs/events/adapters/postgres/events.sql.ts';
const STREAMS = 'libs/events/application/event-streams.ts';
const E2E = ['test/e2e/events/stream.spec.ts'];
const UNIT = ['libs/events/application/event-streams.spec.ts'];

export default [
  {
    what: 'a stream whose key has expired while nothing happened gets the next event',
    file: 'libs/events/application/event-streams.ts',
    find: 'if (performance.now() - this.admittedAt > 2 * ADMIT_EVERY_MS) await this.admit();',
    replace: '',
    tests: ['libs/events/application/event-streams.spec.ts'],
  },
  {
    what: 'a stream gets new events of other accounts',
    file: STATEMENTS,
    find: 'AND account_id = ANY ($1)`',
    replace: 'AND $1::text[] IS NOT NULL`',
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'a stream that resumes gets events of other accounts',
    file: STATEMENTS,
    find: 'WHERE account_id = $1 AND id > $4::text::bigint',
    replace: "WHERE $1 <> '' AND id > $4::text::bigint",
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'a stream that resumes gets its last event again',
    file: STATEMENTS,
    find: 'WHERE account_id = $1 AND id > $4::text::bigint',
    replace: 'WHERE account_id = $1 AND id >= $4::text::bigint',
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'a stream that resumes gets events of after its part, which come once more',
    file: STATEMENTS,
    find: 'AND xid >= $2::text::xid8 AND xid < $3::text::xid8',
    replace: 'AND xid >= $2::text::xid8',
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'the log ends after transactions that are still open: their events are lost',
    file: STATEMENTS,
    find: "const END = 'pg_snapshot_xmin(pg_current_snapshot())'",
    replace: "const END = 'pg_snapshot_xmax(pg_current_snapshot())'",
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'young events are deleted',
    file: STATEMENTS,
    find: 'AND e.recorded_at < now() - ${LIFETIME}',
    replace: 'AND e.recorded_at < now()',
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'an account has more streams than it may have',
    file: STATEMENTS,
    find: 'generate_series(1, ${MAX_STREAMS}) AS n (place)',
    replace: 'generate_series(1, ${MAX_STREAMS} + 1) AS n (place)',
    tests: E2E,
  },
  {
    what: 'a stream takes a place that another one has',
    file: STATEMENTS,
    find: 'WHERE s.open_until <= clock_timestamp()\n',
    replace: '',
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'a stream renews a place that another one has taken since',
    file: STATEMENTS,
    find: 'AS t (account_id, place, token) USING (account_id, place, token)',
    replace: 'AS t (account_id, place, other) USING (account_id, place)',
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'a stream leaves a place that another one has taken since',
    file: STATEMENTS,
    find: 'WHERE account_id = $1 AND place = $2 AND token = $3`',
    replace: 'WHERE account_id = $1 AND place = $2 AND $3::uuid IS NOT NULL`',
    tests: ['test/contracts/event-log.spec.ts'],
  },
  {
    what: 'the position of a stream is taken before its place: what happens between both is not recorded',
    file: STREAMS,
    find: '    const place = await this.places.take(accountId);\n',
    replace:
      '    const early = await this.log.end();\n    const place = await this.places.take(accountId);\n    this.log.end = () => Promise.resolve(early);\n',
    tests: UNIT,
  },
  {
    what: 'a stream of a revoked key goes on',
    file: STREAMS,
    find: 'if (!(await stream.isAdmitted().catch(() => true))) this.close(stream);',
    replace: 'await stream.isAdmitted().catch(() => true);',
    tests: E2E,
  },
];
