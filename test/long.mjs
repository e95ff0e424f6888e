/**
 * Patterns of the tests that `npm test` leaves out. They are sweeps over many inputs, servers, settings or pages for rules
 * that faster tests know as well, take long by themselves, or need what not every machine has.
 */
export const LONG = [
  'test/(bench|container|examples|faults|hostile|neighbours)/',
  'test/architecture/boundaries\\.',
  'test/cli/(batch|commands|connections|files|full-output|hindered|hostile-texts|interrupted|mcp-input|migrate|network|package|terminal)\\.',
  'test/cli/(unusable-databases|unusable-redis|verify)\\.',
  'test/client/(faults|held|hostile|many-faults|package)\\.',
  'test/clients/(clients|go|readmes)\\.',
  'test/contracts/(batching-backend|redis-queue|replaced-data|statistics)\\.',
  'test/contracts/order/(at-once|walk)\\.',
  'test/docs/(consumers|operations|pages|senders|serving-pages)\\.',
  'test/e2e/(edge/(503-overload|slow-readers)|limits/(bans|changing-plans|database-unavailable|floods|windows))\\.',
  'test/e2e/(management/(idle|npm-start|proxied-database)|pages/docs|post-messages/(507|hostile-bodies))\\.',
  'test/e2e/tracing/request-to-delivery\\.',
  'test/portal/(?!(hidden-characters|local-time|many|portal)\\.)',
];
