import { endWithNpm, giveUp, prepare } from './prepare.mjs';

endWithNpm();
try {
  await prepare();
} catch (error) {
  giveUp(error);
}
await import('../../dist/apps/dev/main.js');
