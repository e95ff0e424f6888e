import { prepare } from './prepare.mjs';

await prepare();
await import('../../dist/apps/dev/main.js');
