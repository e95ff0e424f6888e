import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Fleet } from '../support/fleet.js';
import { Program, until } from '../support/processes.js';

const HOUR_MS = 3_600_000;
const PATIENCE_MS = 120_000;
jest.setTimeout(240_000);

describe('npm run verify', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.startForLoad({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '1,1,1,1,1' });
    await fleet.worker();
  });
  afterAll(() => fleet.stop());

  const verify = (ledger: string, ...args: string[]) => verifyWith(fleet.account.key, ledger, ...args);
  const verifyWith = (key: string, ledger: string, ...args: string[]) => {
    const env = { SLUICE_BASE_URL: fleet.api.url, SLUICE_API_KEY: key };
    const all = ['verify', '--ledger', fleet.file(ledger), '--rate', '100', '--settle', '100', ...args];
    return Program.run('dist/apps/cli/main.js', env, process.execPath, all);
  };
  const read = (ledger: string) => readFileSync(fleet.file(ledger), 'utf8');

  it('can be killed: it resumes with its ledger and finds every guarantee kept', async () => {
    const first = verify('killed', '--duration', '600');
    await until(() => first.output.includes('Ledger') && read('killed').split('\n').length > 100, PATIENCE_MS);
    await first.kill();
    const second = verify('killed', '--resume');
    expect(await second.ended(PATIENCE_MS)).toBe(0);
    expect(second.output).toMatch(/Every guarantee was kept\.\n$/);
    expect(read('killed')).not.toContain(fleet.account.key);
  });

  it('can be killed while it is an endpoint: it gives the account back what it had, and calls nothing broken', async () => {
    const first = verify('receiver', '--duration', '600', '--consume', 'webhooks');
    await until(() => first.output.includes('Ledger') && read('receiver').split('\n').length > 100, PATIENCE_MS);
    await first.kill();
    expect(await fleet.sql('SELECT FROM sluice.endpoints')).toHaveLength(1);
    const second = verify('receiver', '--resume');
    expect(await second.ended(PATIENCE_MS)).not.toBe(1);
    expect(second.output).not.toContain('BROKEN');
    expect((await fleet.client.ask(fleet.account)).body.delivery).toBe('handler');
    expect(await fleet.sql('SELECT FROM sluice.endpoints')).toEqual([]);
  });

  it('reports a lost message, also by its exit code', async () => {
    expect(await verify('lost', '--messages', '40').ended(PATIENCE_MS)).toBe(0);
    const { id } = JSON.parse(/^.*"acknowledged".*$/m.exec(read('lost'))?.[0] ?? '') as { id: string };
    await fleet.sql('DELETE FROM sluice.messages WHERE id = $1', [id]);
    const again = verify('lost', '--resume');
    expect(await again.ended(PATIENCE_MS)).toBe(1);
    expect(again.output).toContain(`was acknowledged as ${id} and is not stored`);
    expect(again.output).toMatch(/A guarantee was broken\.\n$/);
  });

  it.each(['pull', 'webhooks'])('consumes what it sends by %s, and gives the account back what it had', async (how) => {
    const program = verify(how, '--messages', '400', '--consume', how);
    expect(await program.ended(PATIENCE_MS)).toBe(0);
    expect(program.output).toMatch(/Every guarantee was kept\.\n$/);
    const delivered = `SELECT attempts FROM sluice.messages WHERE delivery = $1 AND status = 'delivered'`;
    const messages = await fleet.sql<{ attempts: number }>(delivered, [how]);
    expect(messages.length).toBeGreaterThan(300);
    // Some were left or refused at first.
    expect(messages.filter(({ attempts }) => attempts > 1).length).toBeGreaterThan(0);
    expect((await fleet.client.ask(fleet.account)).body.delivery).toBe('handler');
    expect(await fleet.sql('SELECT FROM sluice.endpoints')).toEqual([]);
  });

  it('does not consume by webhooks when other endpoints would get them as well, nor with --resume or otherwise', async () => {
    const url = 'http://127.0.0.1:1/';
    const { body } = await fleet.client.ask(fleet.account, 'POST /endpoints', { url });
    const program = verify('others', '--consume', 'webhooks');
    expect(await program.ended(PATIENCE_MS)).toBe(2);
    expect(program.output).toContain('The account has endpoints');
    await fleet.client.ask(fleet.account, `DELETE /endpoints/${String(body.id)}`);
    expect((await fleet.client.ask(fleet.account)).body.delivery).toBe('handler');
    expect(await verify('both', '--consume', 'pull', '--resume').ended(PATIENCE_MS)).toBe(2);
    expect(await verify('unknown', '--consume', 'push').ended(PATIENCE_MS)).toBe(2);
  });

  const UNKNOWN = '{"n":0,"is":"sent","invalid":false}\n';
  const REFUSED = `${UNKNOWN}{"n":0,"is":"refused","status":429}\n`;
  it.each([
    ['resumes after 22 hours', 22, UNKNOWN, 0, /Every guarantee was kept/],
    ['resumes after 24 hours if every outcome is known', 24, REFUSED, 2, /there was nothing to verify/],
    ['does not resume after 24 hours otherwise', 24, UNKNOWN, 2, /outcome\. Their Idempotency-Keys may have/],
  ])('%s', async (name, hours, lines, code, output) => {
    const begun = { run: randomBytes(6).toString('hex'), begunAt: new Date(Date.now() - hours * HOUR_MS) };
    const text = `${JSON.stringify(begun)}\n${lines}`;
    writeFileSync(fleet.file(name), text);
    const program = verify(name, '--resume');
    expect(await program.ended(PATIENCE_MS)).toBe(code);
    expect(program.output).toMatch(output);
    if (code !== 0) expect(read(name)).toBe(text);
  });

  it('reports a key that is unknown or lacks a scope', async () => {
    const unknown = verifyWith('slc_wrong', 'unused');
    expect(await unknown.ended(PATIENCE_MS)).toBe(2);
    expect(unknown.output).toMatch(/does not know this API key/);
    const { key } = await fleet.client.createKey(fleet.account, { scopes: ['messages:send'] });
    const program = verifyWith(key, 'unused');
    expect(await program.ended(PATIENCE_MS)).toBe(2);
    expect(program.output).toBe('error: The key needs the scope messages:read, to list what is stored.\n');
  });

  it.each([
    [
      ['--duration', 'long'],
      /'--duration <seconds>' argument 'long' is invalid. It must be a whole number from 0 to 86400/,
    ],
    [['--url', 'nowhere'], /^error: --url must be a URL/],
    [['--url', 'http://127.0.0.1:2'], /cannot be reached/],
    [['--ledger', '/nonexistent/ledger'], /^error: \/nonexistent\/ledger cannot be created: there is no such folder/],
    [['--unknown'], /unknown option '--unknown'/],
  ])('reports the error in %j', async (args, output) => {
    const program = verify('unused', ...args);
    expect(await program.ended(PATIENCE_MS)).toBe(2);
    expect(program.output).toMatch(output);
  });
});
