import { join } from 'node:path';
import { endWithNpm, giveUp, prepare, root, run } from '../apps/dev/prepare.mjs';

endWithNpm();
try {
  await prepare();
} catch (error) {
  giveUp(error);
}
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
process.exitCode = await run(process.execPath, [jest, '--config', 'jest.config.mjs', ...process.argv.slice(2)]);
