import { giveUp, prepare } from './prepare.mjs';

try {
  await prepare();
} catch (error) {
  giveUp(error);
}
await import('../../dist/apps/dev/main.js');
