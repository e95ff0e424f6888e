/**
 * The long form of the tests with hostile clients and bad neighbours:
 * `npm run test:hostile -- --connections 5000 --runs 20000 --seed 1 --seconds 30`.
 */
import { parseArgs } from 'node:util';
import { prepare, runJest } from '../../apps/dev/prepare.mjs';

const number = (fallback) => ({ type: 'string', default: fallback });
const { values } = parseArgs({
  options: { connections: number('5000'), runs: number('5000'), seed: number(''), seconds: number('30') },
});
for (const [name, value] of Object.entries(values)) {
  if (!/^\d{1,9}$/.test(value) && !(name === 'seed' && value === '')) {
    console.error(`--${name} must be an integer.`);
    process.exit(1);
  }
}
await prepare();
Object.assign(process.env, {
  HANGING_CONNECTIONS: values.connections,
  FUZZ_RUNS: values.runs,
  FUZZ_SEED: values.seed,
  NEIGHBOUR_SECONDS: values.seconds,
});
await runJest(
  '--runInBand',
  '--testMatch',
  '**/test/{hostile,neighbours}/**/*.spec.ts',
  '**/test/hostile/{newcomers,paying-accounts}.ts',
);
