/** `npm run bench`: builds Sluice and the benchmark, then runs it. */
import { prepare } from '../apps/dev/prepare.mjs';
import { buildBench } from './build.mjs';

await prepare();
buildBench();
await import('../dist/bench/main.js');
