/** `npm test`: what is named, or all tests but the long ones. `SLUICE_TEST=all` adds those. */
import { prepare, runJest } from '../apps/dev/prepare.mjs';

const LONG = [
  'test/architecture/style\\.',
  'test/bench/',
  'test/clients/',
  'test/client/(many-faults|package)\\.',
  'test/container/',
  'test/docs/serving-pages\\.',
  'test/faults/(bad-handlers|clocks|consumer|database-away|foreign-worker|killed|poison|program-killed)\\.',
  'test/faults/(redis|redis-cluster|redis-sentinel|retention|rolling-restart|tracing|verify|webhooks)\\.',
  'test/examples/redis-workers\\.',
  'test/portal/(flows|operators|snippets|views)\\.',
  'test/neighbours/(bodies|pipelining|slow-readers|webhooks)\\.',
];

const args = process.argv.slice(2);
const isChosen = process.env.SLUICE_TEST === 'all' || args.some((arg) => !arg.startsWith('-'));
await prepare();
if (!isChosen) console.log('Without the long tests, which SLUICE_TEST=all npm test adds.');
await runJest(...args, ...(isChosen ? [] : ['--testPathIgnorePatterns', '/node_modules/', ...LONG]));
