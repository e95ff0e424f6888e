/** `npm test`: what is named, or all tests but the long ones. `SLUICE_TEST=all` adds those. */
import { prepare, runJest } from '../apps/dev/prepare.mjs';

const LONG = [
  'test/bench/',
  'test/cli/batch\\.',
  'test/client/(many-faults|package)\\.',
  'test/clients/',
  'test/container/',
  'test/docs/serving-pages\\.',
  'test/e2e/(edge/slow-readers|management/(npm-start|proxied-database)|pages/docs|tracing/request-to-delivery)\\.',
  'test/examples/(handlers|redis-workers)\\.',
  'test/faults/(bad-handlers|clocks|consumer|database-away|embedded-postgres|foreign-worker|killed)\\.',
  'test/faults/(limits-six-processes|poison|program-killed|queue-locked|redis|redis-cluster|redis-sentinel|retention)\\.',
  'test/faults/(rolling-restart|tracing|verify|webhooks|worker-lost)\\.',
  'test/hostile/hanging\\.',
  'test/neighbours/(bodies|busy-reads|cheap-reads|connections|pipelining|slow-readers|webhooks)\\.',
  'test/portal/(flows|operators|snippets|views)\\.',
];

const args = process.argv.slice(2);
const isChosen = process.env.SLUICE_TEST === 'all' || args.some((arg) => !arg.startsWith('-'));
await prepare();
if (!isChosen) console.log('Without the long tests, which SLUICE_TEST=all npm test adds.');
await runJest(...args, ...(isChosen ? [] : ['--testPathIgnorePatterns', '/node_modules/', ...LONG]));
