import { prepare, runJest } from '../apps/dev/prepare.mjs';

await prepare();
await runJest(...process.argv.slice(2));
