import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Deployment } from '../support/deployment.js';
import { Program, until } from '../support/processes.js';

const MINUTES = 60_000;

describe('npm run verify', () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start();
  }, MINUTES);

  afterAll(async () => {
    await deployment.stop();
  }, MINUTES);

  const verify = (ledger: string, ...args: string[]) => {
    const env = { SLUICE_URL: deployment.api.url, SLUICE_KEY: deployment.apiKey };
    const all = ['--ledger', deployment.file(ledger), '--rate', '100', '--settle', '100', ...args];
    return Program.run('dist/apps/cli/verify.js', env, process.execPath, all);
  };
  const linesOf = (ledger: string) => readFileSync(deployment.file(ledger), 'utf8').split('\n').length;

  it(
    'continues with its ledger after it was killed, and finds every guarantee kept',
    async () => {
      const first = verify('killed', '--duration', '600');
      await until(() => first.output.includes('Ledger') && linesOf('killed') > 100, MINUTES);
      first.signal('SIGKILL');
      await first.ended();
      const second = verify('killed', '--resume');
      expect(await second.ended(2 * MINUTES)).toBe(0);
      expect(second.output).toMatch(/Every guarantee was kept\.\n$/);
      expect(readFileSync(deployment.file('killed'), 'utf8')).not.toContain(deployment.apiKey);
    },
    4 * MINUTES,
  );

  it(
    'reports a lost message, by its exit code as well',
    async () => {
      expect(await verify('lost', '--messages', '40').ended(2 * MINUTES)).toBe(0);
      const { id } = JSON.parse(
        /^.*"acknowledged".*$/m.exec(readFileSync(deployment.file('lost'), 'utf8'))?.[0] ?? '',
      ) as {
        id: string;
      };
      await deployment.database.sql('DELETE FROM sluice.messages WHERE id = $1', [id]);
      const again = verify('lost', '--resume');
      expect(await again.ended(2 * MINUTES)).toBe(1);
      expect(again.output).toContain(`was acknowledged as ${id} and is not stored`);
      expect(again.output).toMatch(/A guarantee was broken\.\n$/);
    },
    4 * MINUTES,
  );

  describe('continues with a ledger', () => {
    const HOUR = 3_600_000;
    const OPEN = '{"n":0,"is":"sent","invalid":false}\n';
    const KNOWN = `${OPEN}{"n":0,"is":"refused","status":429}\n`;

    it.each([
      ['22 hours old', 22, OPEN, 0, /Every guarantee was kept/],
      ['24 hours old, without an unknown outcome', 24, KNOWN, 0, /Every guarantee was kept/],
      [
        'but not if it is 24 hours old, because the keys may have expired',
        24,
        OPEN,
        2,
        /outcome\. Their Idempotency-Keys may have/,
      ],
    ])(
      '%s',
      async (name, hours, lines, code, sentence) => {
        const begun = { run: randomBytes(6).toString('hex'), begunAt: new Date(Date.now() - hours * HOUR) };
        const text = `${JSON.stringify(begun)}\n${lines}`;
        writeFileSync(deployment.file(name), text);
        const program = verify(name, '--resume');
        expect(await program.ended(2 * MINUTES)).toBe(code);
        expect(program.output).toMatch(sentence);
        if (code !== 0) expect(readFileSync(deployment.file(name), 'utf8')).toBe(text);
      },
      3 * MINUTES,
    );
  });

  it(
    'reports the missing scope of a key',
    async () => {
      const issued = await fetch(`${deployment.api.url}/api-keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${deployment.apiKey}` },
        body: JSON.stringify({ name: 'send only', scopes: ['messages:send'] }),
      });
      const { key } = (await issued.json()) as { key: string };
      const program = verify('unused', '--key', key);
      expect(await program.ended(MINUTES)).toBe(2);
      expect(program.output).toBe('The key needs the scope messages:read, to list what is stored.\n');
    },
    MINUTES,
  );

  it.each([
    [['--duration', 'long'], /^--duration must be a whole number from 0 to 86400; it is "long"\.\n$/],
    [['--url', 'nowhere'], /^--url must be a URL/],
    [['--url', 'http://127.0.0.1:1'], /cannot be reached/],
    [['--key', 'slc_wrong'], /does not know this API key/],
    [['--ledger', '/nonexistent/ledger'], /ENOENT/],
    [['--unknown'], /Unknown option '--unknown'/],
  ])(
    'reports in a sentence what is wrong with %j',
    async (args, sentence) => {
      const program = verify('unused', ...args);
      expect(await program.ended(MINUTES)).toBe(2);
      expect(program.output).toMatch(sentence);
    },
    MINUTES,
  );
});
