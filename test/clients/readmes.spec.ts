import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readPage } from '../docs/page.js';
import { accountOf, sharedApi } from '../support/api.js';
import { ROOT } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-readmes-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const blocksOf = (path: string, language: string) =>
  readPage(path)
    .blocks.filter((block) => block.language === language)
    .map(({ text }) => text);

const PYTHON = join(folder, 'python/bin');

/** Installs the client as its README says. @returns why that cannot be done */
function installPython(): string | null {
  if (spawnSync('python3', ['-m', 'venv', join(folder, 'python')]).status !== 0) return 'Python: there is no venv.';
  // It builds in the folder of the sources.
  cpSync(join(ROOT, 'clients/python'), join(folder, 'clients/python'), { recursive: true });
  const [command = ''] = blocksOf('clients/python/README.md', 'sh');
  // By this Python, whatever `pip` is found first: it must not change that of the machine.
  const install = command.replace(/^pip /, `'${PYTHON}/python' -m pip `);
  const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_REQUIRE_VIRTUALENV: '1' };
  const { status, stderr } = spawnSync('bash', ['-ec', install], { cwd: folder, env, encoding: 'utf8' });
  if (status === 0) return null;
  if (/setuptools|connection/i.test(stderr)) return 'Python: PyPI cannot be reached.';
  throw new Error(stderr);
}

describeUnless(installPython())('The README of the Python client', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it('shows how to install it, and programs that work', async () => {
    await api.ask(account, 'PATCH /account', { delivery: 'pull' });
    const program = [
      'handle = print',
      'import sluice as package',
      REQUEST,
      ...blocksOf('clients/python/README.md', 'python'),
    ]
      .join('\n')
      .replace('Sluice("slc_…", "https://sluice.example.com")', 'Sluice.from_env()')
      .replace('lease_seconds=60', 'lease_seconds=60, limit=3')
      .replace('"whsec_…"', '"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"');
    writeFileSync(join(folder, 'program.py'), `${program}\nprint(package.__file__)\n`);
    const env = { SLUICE_API_KEY: account.key, SLUICE_BASE_URL: api.url };
    const args = ['-W', 'error', 'program.py'];
    const { stdout } = await promisify(execFile)(join(PYTHON, 'python'), args, { cwd: folder, env });
    const [first, second, third, path] = stdout.split('\n');
    expect([first, second, third]).toEqual(['Order 4711 is paid', 'one', 'two']);
    expect(path).toContain('/site-packages/sluice/');
    const { data } = (await api.ask(account, 'GET /messages')).body as { data: { status: string }[] };
    expect(data.map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered']);
  });
});

/** A webhook without a signature. */
const REQUEST = 'class request:\n    headers = {}\n    get_data = staticmethod(lambda: b"{}")';

const hasGo = spawnSync('go', ['version']).status === 0;

describeUnless(hasGo ? null : 'Go is not installed.')('The README of the Go client', () => {
  it('shows how to require it, and code that compiles', () => {
    const app = join(folder, 'go');
    cpSync(join(ROOT, 'clients/go'), join(app, 'sluice'), { recursive: true });
    const env = { HOME: homedir(), ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local' };
    const run = (command: string) => execFileSync('bash', ['-ec', command], { cwd: app, env, stdio: 'pipe' });
    const [require = ''] = blocksOf('clients/go/README.md', 'sh');
    run(`go mod init app 2>&1; ${require}`);
    const [use = '', consume = '', verify = '', errors = ''] = blocksOf('clients/go/README.md', 'go');
    const used = (text: string, ...names: string[]) => `${text}\n${names.map((name) => `_ = ${name}`).join('\n')}`;
    writeFileSync(
      join(app, 'main.go'),
      `package main
import ("context"; "errors"; "net/http"; "example.com/sluice")
func main() {}
func handle(ctx context.Context, text string) error { return nil }
func use(ctx context.Context) { ${used(use.replace('…\n}', '_, _ = message, err\n}'), 'sent', 'err')} }
func consume(ctx context.Context, client *sluice.Client) { ${used(consume, 'err')} }
func verify(request *http.Request, body []byte) { ${used(verify, 'payload')} }
func failed(err error) { ${errors.replace('…', '')} }
`,
    );
    run('go vet .');
  });
});
