/** Checks the API against its OpenAPI document with generated requests: `npm run fuzz:api -- --minutes 5`. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from '../../apps/dev/prepare.mjs';

const SCHEMATHESIS = 'schemathesis==4.32.5';
/** Operations that may revoke the key in use, or post to URLs that were made up: they get an account without any. */
const APART = ['revokeApiKey', 'rotateApiKey', 'testEndpoint'];
/** Its response does not end. */
const ENDLESS = 'streamEvents';
/** Schemas cannot express rules that depend on the time, on other fields or on earlier requests. */
const EXCLUDED_CHECK = 'positive_data_acceptance';

const { minutes } = parseArgs({ options: { minutes: { type: 'string', default: '5' } } }).values;
if (!/^[1-9]\d{0,2}$/.test(minutes)) {
  console.error('--minutes must be an integer from 1 to 999.');
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
    console.error('This requires python3 with the module venv (Debian: apt-get install python3-venv).');
    return false;
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', SCHEMATHESIS];
  if ((await run(join(folder, 'bin', 'python'), pip)) === 0) return true;
  console.error(`${SCHEMATHESIS} could not be installed; see the output of pip.`);
  return false;
}

async function fuzz() {
  // Imported here because it needs the build.
  const { startServer } = await import('./server.mjs');
  const server = await startServer();
  try {
    const parts = [
      {
        key: server.apiKey,
        share: 0.7,
        filters: ['--exclude-tag', 'Operators', ...operations('--exclude', [...APART, ENDLESS])],
      },
      {
        key: server.anotherKey,
        share: 0.1,
        // Not the stateful phase: it would expect a key to exist after its rotation.
        filters: [...operations('--include', APART), '--phases', 'examples,coverage,fuzzing'],
      },
      { key: server.adminKey, share: 0.2, filters: ['--include-tag', 'Operators'] },
    ];
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(await documentOf(server.url)));
    const codes = [];
    for (const { key, share, filters } of parts) {
      codes.push(await schemathesis(file, server.url, key, Number(minutes) * 60 * share, filters));
    }
    return Math.max(...codes);
  } finally {
    await server.stop();
  }
}

/** The server takes null for an omitted field of a body, which the document keeps from the types of client libraries. */
async function documentOf(url) {
  const document = await (await fetch(`${url}/openapi.json`)).json();
  for (const [name, { properties, required = [] }] of Object.entries(document.components.schemas)) {
    if (!name.endsWith('Body')) continue;
    for (const [field, schema] of Object.entries(properties ?? {})) {
      if (!required.includes(field)) properties[field] = { anyOf: [schema, { type: 'null' }] };
    }
  }
  return document;
}

function operations(what, ids) {
  return ids.flatMap((id) => [`${what}-operation-id`, id]);
}

function schemathesis(file, url, key, seconds, filters) {
  const options =
    `--checks all --exclude-checks ${EXCLUDED_CHECK} --max-time ${Math.round(seconds)} --continue-on-failure ` +
    // A lease may wait for 20 s.
    '--no-color --generation-database none --request-timeout 30 --max-response-time 25';
  const target = ['run', file, '--url', url, '--header', `Authorization: Bearer ${key}`];
  return run(join(folder, 'bin', 'st'), [...target, ...filters, ...options.split(' ')]);
}

/** @returns the exit code; 1 if the program cannot be started or is killed */
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
