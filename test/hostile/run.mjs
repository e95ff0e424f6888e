/** Hostile clients in their long form: `npm run test:hostile -- --connections 5000 --runs 20000 --seed 1`. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { giveUp, prepare, root, run } from '../../apps/dev/prepare.mjs';

const number = (fallback) => ({ type: 'string', default: fallback });
const { values } = parseArgs({ options: { connections: number('5000'), runs: number('5000'), seed: number('') } });
for (const [name, value] of Object.entries(values)) {
  if (!/^\d{1,9}$/.test(value) && !(name === 'seed' && value === '')) {
    console.error(`--${name} must be a whole number.`);
    process.exit(1);
  }
}
try {
  await prepare();
} catch (error) {
  giveUp(error);
}
Object.assign(process.env, {
  HANGING_CONNECTIONS: values.connections,
  FUZZ_RUNS: values.runs,
  FUZZ_SEED: values.seed,
});
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
process.exitCode = await run(process.execPath, [jest, '--config', 'jest.config.mjs', '--runInBand', 'test/hostile']);
