/** Holds the API to its document with inputs that nobody thought of: `npm run fuzz:api -- --minutes 5`. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from '../../apps/dev/prepare.mjs';

const SCHEMATHESIS = 'schemathesis==4.32.5';
/** What ends the key that asks is asked with one of its own. */
const ENDS_KEYS = ['revokeApiKey', 'rotateApiKey'];
/** Schemas can't say what depends on the time, on other fields or on what was sent before. */
const LEFT_OUT = 'positive_data_acceptance';

const { minutes } = parseArgs({ options: { minutes: { type: 'string', default: '5' } } }).values;
if (!/^[1-9]\d{0,2}$/.test(minutes)) {
  console.error('--minutes must be a whole number from 1 to 999.');
  process.exit(1);
}
await prepare();

const folder = await mkdtemp(join(tmpdir(), 'sluice-schemathesis-'));
try {
  process.exitCode = (await install()) ? await fuzz() : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function install() {
  console.log(`Installing ${SCHEMATHESIS} …`);
  if ((await run('python3', ['-m', 'venv', folder])) !== 0) {
    console.error('It takes python3 with its module venv (Debian: apt-get install python3-venv).');
    return false;
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', SCHEMATHESIS];
  if ((await run(join(folder, 'bin', 'python'), pip)) === 0) return true;
  console.error(`${SCHEMATHESIS} could not be installed: pip says why.`);
  return false;
}

async function fuzz() {
  // Only now, because it is built by now.
  const { startServer } = await import('./server.mjs');
  const server = await startServer();
  try {
    const parts = [
      {
        key: server.apiKey,
        share: 0.7,
        filters: ['--exclude-tag', 'Operators', ...operations('--exclude', ENDS_KEYS)],
      },
      { key: server.anotherKey, share: 0.1, filters: operations('--include', ENDS_KEYS) },
      { key: server.operatorsKey, share: 0.2, filters: ['--include-tag', 'Operators'] },
    ];
    const codes = [];
    for (const { key, share, filters } of parts) {
      codes.push(await schemathesis(server.url, key, Number(minutes) * 60 * share, filters));
    }
    return Math.max(...codes);
  } finally {
    await server.stop();
  }
}

function operations(what, ids) {
  return ids.flatMap((id) => [`${what}-operation-id`, id]);
}

function schemathesis(url, key, seconds, filters) {
  return run(join(folder, 'bin', 'st'), [
    ...['run', `${url}/openapi.json`, '--header', `Authorization: Bearer ${key}`, ...filters],
    ...[
      '--checks',
      'all',
      '--exclude-checks',
      LEFT_OUT,
      '--max-time',
      String(Math.round(seconds)),
      '--continue-on-failure',
      '--no-color',
    ],
    ...['--generation-database', 'none', '--request-timeout', '30'],
  ]);
}

/** @returns its exit code; 1 when it can't be started or is killed */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: folder, stdio: 'inherit' });
    child.once('error', (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
