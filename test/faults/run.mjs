/**
 * The faults in their long form: `npm run test:faults -- --rounds 10`; or nothing but load, for so many minutes:
 * `npm run test:faults -- --soak 5`.
 */
import { parseArgs } from 'node:util';
import { prepare, runJest } from '../../apps/dev/prepare.mjs';

const options = { rounds: { type: 'string', default: '10' }, soak: { type: 'string' } };
const { rounds, soak } = parseArgs({ options }).values;
for (const [name, value] of Object.entries({ rounds, soak: soak ?? '1' })) {
  if (/^[1-9]\d{0,3}$/.test(value)) continue;
  console.error(`--${name} must be a whole number from 1 to 9999.`);
  process.exit(1);
}
await prepare();
if (soak === undefined) process.env.FAULT_ROUNDS = rounds;
else process.env.SOAK_MINUTES = soak;
const tests = soak === undefined ? ['test/faults'] : ['--testMatch', '**/test/faults/soak.ts'];
await runJest('--runInBand', ...tests);
