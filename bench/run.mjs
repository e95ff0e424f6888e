/** `npm run bench`: builds the program and the benchmark, and runs it. */
import { giveUp, endWithNpm, prepare } from '../apps/dev/prepare.mjs';
import { buildBench } from './build.mjs';

endWithNpm();
try {
  await prepare();
  buildBench();
} catch (error) {
  giveUp(error);
}
await import('../dist/bench/main.js');
