/** `npm run bench`: builds Sluice and the benchmark, then runs it. */
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
