/** Patterns of the tests that `npm test` leaves out: they take long or need what not every machine has. */
export const LONG = [
  'test/bench/',
  'test/cli/batch\\.',
  'test/client/(many-faults|package)\\.',
  'test/clients/(clients|go)\\.',
  'test/container/',
  'test/docs/serving-pages\\.',
  'test/e2e/(edge/slow-readers|management/(idle|npm-start|proxied-database)|pages/docs|tracing/request-to-delivery)\\.',
  'test/examples/(handlers|redis-workers)\\.',
  'test/faults/(bad-handlers|clocks|consumer|database-away|deleted-accounts|embedded-postgres|foreign-worker|killed)\\.',
  'test/faults/(limits-six-processes|order|pause|poison|program-killed|queue-locked|queue-parts|redis|redis-cluster|redis-sentinel|retention)\\.',
  'test/faults/(rolling-restart|standby|tracing|usage|useless-redis|verify|webhooks|worker-lost)\\.',
  'test/hostile/hanging\\.',
  'test/neighbours/(bodies|busy-reads|cheap-reads|connections|pipelining|slow-readers|webhooks)\\.',
  'test/portal/(flows|operators|snippets|views)\\.',
];
