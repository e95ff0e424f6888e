import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sharedApi } from '../support/api.js';
import { openApi } from '../support/documented.js';
import { setWindows } from '../support/limits.js';
import { ROOT } from '../support/processes.js';

const PYTHON_GENERATOR = 'openapi-python-client==0.29.1';
const GO_GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const GO_RUNTIME = 'github.com/oapi-codegen/runtime@v1.8.0';

/** Each test generates a client, compiles it, and runs a program in test/clients/programs/ with it. */
describe('A client that is generated from the OpenAPI document', () => {
  const api = sharedApi();
  let folder: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-clients-'));
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApi));
    const [account, limited] = [await api.signUp(), await api.signUp('free')];
    // Not that of a minute, which ends while tools are downloaded and compiled.
    await setWindows(api, limited, { dayUsed: 1_000 });
    env = { SLUICE_URL: api.url, API_KEY: account.key, LIMITED_KEY: limited.key };
  });
  afterEach(() => rm(folder, { recursive: true }));

  const run = async (command: string, ...args: string[]) => {
    const options = { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 2 ** 24 };
    const { stdout, stderr } = await promisify(execFile)(command, args, options);
    return stdout + stderr;
  };
  const program = (name: string) => copyFile(join(__dirname, 'programs', name), join(folder, name));
  const expectResult = (output: string) => {
    const codes = ['unauthorized', 'idempotency_key_reused', 'rate_limit_exceeded'];
    expect(JSON.parse(output)).toEqual(['queued', ['Hello'], ...codes]);
  };

  /** Whether a tool is there. What it downloads may be missing as well, and is reported alike. */
  const isReady = async (name: string, preparing: () => Promise<unknown>) => {
    const reason = await preparing().then(
      () => null,
      (error: unknown) => String(error),
    );
    if (reason !== null) process.stderr.write(`Skipped: ${name} is not available: ${reason.slice(0, 500)}\n`);
    return reason === null;
  };

  it('works in TypeScript', async () => {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await program('client.ts');
    const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);
    await run(bin('openapi-typescript'), 'openapi.json', '-o', 'openapi.ts');
    const options = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022'];
    await run(bin('tsc'), 'client.ts', ...options, '--types', 'node');
    expectResult(await run(process.execPath, 'client.js'));
  }, 300_000);

  it('works in Python, generated without a warning', async () => {
    const python = join(folder, 'venv/bin/python');
    const install = async () => {
      await run('python3', '-m', 'venv', 'venv');
      await run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PYTHON_GENERATOR);
    };
    if (!(await isReady('openapi-python-client', install))) return;
    await program('client.py');
    // What it calls after that, to format the sources.
    await writeFile(join(folder, 'config.yaml'), 'post_hooks: []');
    const options = [
      '--path',
      'openapi.json',
      '--config',
      'config.yaml',
      '--meta',
      'none',
      '--output-path',
      'generated',
    ];
    const output = await run(join(folder, 'venv/bin/openapi-python-client'), 'generate', ...options);
    expect(output.trim()).toBe('Generating generated');
    expectResult(await run(python, 'client.py'));
  }, 300_000);

  it('works in Go, with types for all codes', async () => {
    const install = async () => {
      await run('go', 'mod', 'init', 'example.com/client');
      await run('go', 'get', '-tool', GO_GENERATOR);
      await run('go', 'get', GO_RUNTIME);
    };
    if (!(await isReady('oapi-codegen', install))) return;
    await program('client.go');
    const options = ['-generate', 'types,client', '-package', 'main', '-exclude-tags', 'Operators,Reference'];
    await run('go', 'tool', 'oapi-codegen', ...options, '-o', 'generated.go', 'openapi.json');
    expectResult(await run('go', 'run', '.'));
  }, 600_000);
});
