import { accountOf, OPERATOR, sharedApi } from '../../support/api.js';
import { inProcessCli } from '../../support/in-process-cli.js';

describe('The commands for an account', () => {
  const api = sharedApi();
  const account = accountOf(api);
  const cli = inProcessCli(() => ({
    SLUICE_BASE_URL: api.url,
    SLUICE_API_KEY: account.key,
    SLUICE_ADMIN_API_KEY: OPERATOR.key,
  }));

  it('lists, shows, cancels and retries messages', async () => {
    const [failed, queued] = [await api.sent(account, { message: 'a\u001b[31m\tb' }), await api.sent(account)];
    await api.become(failed.id, 'failed');
    const { stdout } = await cli.run(['list', '--status', 'failed']);
    expect(stdout).toMatch(new RegExp(`^${failed.id}\tfailed\t[^\t]+Z\t1\t-\ta\\\\u001b\\[31m\\\\tb\n$`));
    const [listed] = await cli.json<{ message: string }[]>('list', '--status', 'failed');
    expect(listed?.message).toBe('a\u001b[31m\tb');
    expect((await cli.run(['get', failed.id])).stdout).toContain('Failure\tthe handler said no\n');
    expect(await cli.json('attempts', queued.id)).toEqual([]);
    expect(await cli.run(['attempts', queued.id])).toMatchObject({ code: 0, stdout: '' });
    expect(await cli.json('cancel', queued.id)).toMatchObject({ id: queued.id, status: 'cancelled' });
    expect(await cli.run(['cancel', queued.id, 'msg_unknown', failed.id])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: msg_.*\nerror: msg_unknown: .*\nerror: msg_.*\nerror: 3 of 3 failed\./,
      ) as string,
    });
    expect(await cli.json('retry', failed.id)).toMatchObject({ id: failed.id, status: 'queued' });
    await api.become(failed.id, 'failed');
    expect(await cli.json('retry', '--since', '2020-01-01', '--type', 'no.such')).toEqual({ count: 0 });
    expect(await cli.json('retry', '--since', '2020-01-01')).toEqual({ count: 1 });
  });

  it('lists and cancels by type and time', async () => {
    const other = await api.signUp();
    const env = { SLUICE_API_KEY: other.key };
    const ids: string[] = [];
    for (const type of ['order.paid', 'order.sent', 'order', undefined]) {
      ids.push((await api.sent(other, { body: { message: 'hello', type } })).id);
    }
    const [paid = '', sent = '', order = '', none = ''] = ids;
    const listed = async (...args: string[]) => {
      const { stdout } = await cli.run(['list', ...args], { env });
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('\t')[0]);
    };
    expect(await listed('--type', 'order.*')).toEqual([sent, paid]);
    expect(await listed('--type', 'order', '--status', 'queued')).toEqual([order]);
    expect(await listed('--since', '2026-01-01', '--until', '2026-01-02')).toEqual([]);
    expect(await listed('--since', '2026-01-01')).toEqual([none, order, sent, paid]);
    expect((await cli.run(['list', '--type', 'order.paid'], { env })).stdout).toMatch(/\torder\.paid\thello\n$/);
    expect((await cli.run(['cancel', '--type', 'order.*'], { env })).stdout).toBe('2 messages cancelled.\n');
    expect(await listed('--status', 'queued')).toEqual([none, order]);
    expect((await cli.run(['cancel', '--all', '--json'], { env })).stdout).toBe('{"count":2}\n');
  });

  it('shows usage, and changes the delivery mode', async () => {
    expect((await cli.run(['usage'])).stdout).toMatch(/^Minute\t[\d,]+ of 100,000,000, resets in \d+ s\n/);
    expect(await cli.json('usage')).toMatchObject({ minute: { limit: 100_000_000 }, storage: {} });
    expect(await cli.json('delivery', 'pull')).toEqual({ delivery: 'pull' });
    expect((await api.ask(account)).body.delivery).toBe('pull');
  });

  it('pauses and resumes the deliveries of the account', async () => {
    const delivery = async () => /Delivery\t(.*)/.exec((await cli.run(['whoami'])).stdout)?.[1];
    expect(await cli.json('pause')).toEqual({ paused: true });
    expect((await api.ask(account)).body.paused).toBe(true);
    expect((await cli.run(['pause'])).stdout).toContain('until `sluice resume`');
    expect(await delivery()).toMatch(/, paused$/);
    expect((await cli.run(['admin', 'accounts', 'get', account.id])).stdout).toContain('State\tpaused');
    expect(await cli.json('resume')).toEqual({ paused: false });
    expect((await cli.run(['resume'])).stdout).toBe('Messages are delivered.\n');
    expect(await delivery()).not.toContain('paused');
  });

  it('shows what was accepted, as a table, JSON and CSV', async () => {
    const start = new Date(Date.now() - 100 * 86_400_000).toISOString().replace(/T.*/, 'T00:00:00.000Z');
    for (const hours of [0, 1, 2]) {
      await api.sql(
        `INSERT INTO sluice.usage (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled)
         VALUES ($1, $2::timestamptz + $3 * interval '1 hour', 1000, 2048, 997, 2, 1)`,
        [account.id, start, hours],
      );
    }
    const line = (hour: number) => start.replace('00:00:00.000', `0${hour}:00:00`);
    const span = ['--since', line(0), '--until', line(2)];
    const row = (hour: number) => `${line(hour)}\t1,000\t2.0 KiB\t997\t2\t1\n`;
    expect((await cli.run(['usage', '--by', 'hour', ...span])).stdout).toBe(row(0) + row(1));
    expect(await cli.json('usage', '--by', 'day', ...span)).toMatchObject([{ start, accepted: 3_000 }]);
    const csv = (await cli.run(['usage', '--by', 'hour', '--csv', ...span])).stdout.split('\n');
    const lines = [0, 1].map((hour) => start.replace('T00', `T0${hour}`) + ',1000,2048,997,2,1');
    expect(csv).toEqual(['start,accepted,acceptedBytes,delivered,failed,cancelled', ...lines, '']);
    const all = await cli.run(['admin', 'usage', '--csv', ...span]);
    expect(all.stdout).toContain(`\n${start},${account.id},,3000,6144,2991,6,3\n`);
    const one = ['admin', 'usage', '--by', 'hour', '--account', account.id, ...span];
    expect((await cli.run(one)).stdout).toBe(row(0) + row(1));
    for (const wrong of [
      ['usage', '--csv'],
      ['usage', '--since', line(0)],
      ['usage', '--by', 'week'],
    ]) {
      expect(await cli.run(wrong)).toMatchObject({ code: 2, stdout: '' });
    }
  });

  it('creates, lists, rotates and revokes keys, and shows each key once', async () => {
    const created = await cli.run(['keys', 'create', 'billing', '--scope', 'messages:send', 'messages:read']);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^slc_\w+\n$/) as string });
    const id = /key_\w+/.exec(created.stderr)?.[0] ?? '';
    expect(await cli.run(['keys', 'list'])).toMatchObject({
      stdout: expect.stringMatching(new RegExp(`^${id}\tbilling\t.*\tmessages:send messages:read\n`)) as string,
    });
    expect(await cli.run(['keys', 'rotate', id])).toMatchObject({ code: 2, stdout: '' });
    const { id: next } = await cli.json('keys', 'rotate', id, '--grace', '60');
    expect(await cli.run(['keys', 'revoke', String(next)])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Confirm with --yes.') as string,
    });
    expect(await cli.json('keys', 'revoke', String(next), '--yes')).toEqual({ id: next, revoked: true });
    expect(await api.knows(created.stdout.trim())).toBe(true);
  });

  it('reports invalid arguments and failures of some as JSON', async () => {
    for (const [args, code, sentences] of [
      [['list', '--limit', '0'], 2, [/whole number from 1/]],
      [['retry', 'msg_unknown', '--until', '2030-01-01'], 2, [/--until requires --since/]],
      [['retry', 'msg_unknown', '--type', 'order.*'], 2, [/--type requires --since/]],
      [['endpoints', 'update', 'ep_unknown', '--enable', '--disable'], 2, [/cannot be used with/]],
      [['endpoints', 'update', 'ep_unknown'], 2, [/name what to change/]],
      [['endpoints', 'rotate-secret', 'ep_unknown'], 2, [/stops signing at once\? Confirm with --yes/]],
      [['admin', 'accounts', 'update', 'acct_unknown'], 2, [/name what to change/]],
      [['admin', 'accounts', 'delete', 'acct_unknown'], 2, [/for good\? Confirm with --yes/]],
      [['send', 'hello', '--from-line', '2'], 2, [/--from-line requires --batch/]],
      [['listen', '--forward-to', 'ftp://127.0.0.1/', '--yes'], 2, [/--forward-to must be a URL like/]],
      [['listen', '--forward-to', 'http://:secret@127.0.0.1/', '--yes'], 2, [/--forward-to must be (?!.*secret)/]],
      [['list', '--base-url', 'nowhere'], 2, [/--base-url must be a URL like/]],
      [['list', '--base-url', 'http://:secret@127.0.0.1'], 2, [/--base-url must be a URL like (?!.*secret)/]],
      [['send', '--batch', 'nofile'], 2, [/nofile cannot be read: there is no such file\./]],
      [['keys'], 2, [/A command is missing/]],
      [['cancel', 'msg_a', 'msg_b'], 1, [/no message/, /no message/, /2 of 2 failed/]],
    ] as const) {
      const failed = await cli.run([...args, '--json']);
      expect(failed).toMatchObject({ code, stdout: '' });
      const errors = failed.stderr.trim().split('\n');
      const messages = errors.map((line) => (JSON.parse(line) as { error: { message: string } }).error.message);
      expect(messages).toEqual(sentences.map((sentence) => expect.stringMatching(sentence) as string));
    }
  });
});
