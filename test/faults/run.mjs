/** The faults in their long form: `npm run test:faults -- --rounds 10`. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { giveUp, prepare, root, run } from '../../apps/dev/prepare.mjs';

const { rounds } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } }).values;
if (!/^[1-9]\d{0,3}$/.test(rounds)) {
  console.error('--rounds must be a whole number from 1 to 9999.');
  process.exit(1);
}
try {
  await prepare();
} catch (error) {
  giveUp(error);
}
process.env.FAULT_ROUNDS = rounds;
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
process.exitCode = await run(process.execPath, [jest, '--config', 'jest.config.mjs', '--runInBand', 'test/faults']);
