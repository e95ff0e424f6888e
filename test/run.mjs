/** `npm test`: what is named, or all tests but the long ones. `SLUICE_TEST=all` adds those. */
import { prepare, runJest } from '../apps/dev/prepare.mjs';
import { LONG } from './long.mjs';

const args = process.argv.slice(2);
const isChosen = process.env.SLUICE_TEST === 'all' || args.some((arg) => !arg.startsWith('-'));
await prepare();
if (!isChosen) console.log('Without the long tests, which SLUICE_TEST=all npm test adds.');
await runJest(...args, ...(isChosen ? [] : ['--testPathIgnorePatterns', '/node_modules/', ...LONG]));
