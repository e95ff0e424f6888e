import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { accountOf, OPERATOR, sharedApi } from '../../support/api.js';
import { inProcessCli } from '../../support/in-process-cli.js';
import { listen } from '../../support/processes.js';

describe('The commands for operators', () => {
  const api = sharedApi();
  const account = accountOf(api);
  const cli = inProcessCli(() => ({
    SLUICE_BASE_URL: api.url,
    SLUICE_API_KEY: account.key,
    SLUICE_ADMIN_API_KEY: OPERATOR.key,
  }));

  it('serves operators', async () => {
    const other = await api.signUp();
    const accounts = ['admin', 'accounts'] as const;
    expect(await cli.json(...accounts, 'update', other.id, '--plan', 'pro')).toMatchObject({
      limits: { perMinute: 300 },
    });
    expect(await cli.json(...accounts, 'suspend', other.id)).toMatchObject({ suspended: true });
    expect((await cli.run([...accounts, 'get', other.id])).stdout).toContain('State\tsuspended');
    expect(await cli.json(...accounts, 'list', '--suspended', '--limit', '1')).toMatchObject([{ suspended: true }]);
    expect(await cli.json(...accounts, 'resume', other.id)).toMatchObject({ suspended: false });
    expect((await cli.run([...accounts, 'keys', 'list', other.id])).stdout).toContain(other.keyId);
    expect(await cli.run([...accounts, 'keys', 'revoke', other.id, other.keyId, '--yes'])).toMatchObject({ code: 0 });
    expect(await api.knows(other)).toBe(false);
    const back = (await cli.run([...accounts, 'keys', 'create', other.id, 'way back'])).stdout.trim();
    expect(await api.knows(back)).toBe(true);
    expect(await cli.json('admin', 'bans', 'list', '--account', other.id)).toEqual([]);
    expect(await cli.run(['admin', 'bans', 'lift', other.keyId])).toMatchObject({ code: 1 });
    expect(await cli.run([...accounts, 'list', '--limit', '1'])).toMatchObject({ code: 0 });
  });

  it('creates, finds, renames and deletes accounts', async () => {
    const accounts = ['admin', 'accounts'] as const;
    const made = await cli.run([...accounts, 'create', 'Blue Orca', '--plan', 'pro', '--external-id', 'whale-1']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^slc_\w+\n$/) as string });
    const key = made.stdout.trim();
    const id = /acct_\w+/.exec(made.stderr)?.[0] ?? '';
    expect((await api.ask(key)).body).toMatchObject({ id, name: 'Blue Orca', plan: 'pro' });
    expect(await cli.json(...accounts, 'create', 'Other', '--json')).toMatchObject({ apiKey: { name: 'first key' } });
    const taken = await cli.run([...accounts, 'create', 'Blue', '--external-id', 'whale-1', '--json']);
    expect(JSON.parse(taken.stderr)).toMatchObject({ error: { code: 'external_id_taken' } });
    for (const filter of [
      ['--name', 'blue or'],
      ['--external-id', 'whale-1'],
    ]) {
      expect(await cli.json(...accounts, 'list', ...filter)).toMatchObject([{ id }]);
    }
    expect(await cli.json(...accounts, 'list', '--name', 'nobody')).toEqual([]);
    expect(await cli.json(...accounts, 'rename', id, 'Grey Orca')).toMatchObject({ name: 'Grey Orca' });
    expect((await cli.run([...accounts, 'get', id])).stdout).toMatch(/Name\tGrey Orca\nExternal id\twhale-1\n/);
    const link = [...accounts, 'portal-link', id, '--scope', 'messages:read', 'messages:send', '--expires-in', '60'];
    expect(await cli.run(link)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/#link=slp_\w{40}\n$/) as string,
    });
    expect(await cli.json(...link)).toMatchObject({ scopes: ['messages:read', 'messages:send'] });
    expect(await cli.json(...accounts, 'update', id, '--no-external-id')).toMatchObject({ externalId: null });
    expect((await cli.run([...accounts, 'delete', id])).code).toBe(2);
    expect(await api.knows(key)).toBe(true);
    expect(await cli.json(...accounts, 'delete', id, '--yes')).toMatchObject({ id });
    expect(await api.knows(key)).toBe(false);
    expect((await cli.run([...accounts, 'get', id])).code).toBe(1);
  });

  it('lets operators define plans, and see what they changed', async () => {
    const update = ['admin', 'accounts', 'update', account.id];
    const plan = ['admin', 'plans'];
    const limits = { perMinute: 600, perDay: 50_000 };
    const created = await cli.json(...plan, 'put', 'cli-plan', '--per-minute', '600', '--per-day', '50000');
    expect(created).toMatchObject({ name: 'cli-plan', limits, maxStoredBytes: null, maxEndpoints: null });
    expect(
      await cli.json(...plan, 'put', 'cli-plan', '--max-endpoints', '0', '--max-stored-bytes', '1000000'),
    ).toMatchObject({ limits, maxStoredBytes: 1_000_000, maxEndpoints: 0 });
    expect(
      await cli.json(...plan, 'put', 'cli-plan', '--per-minute', '700', '--max-stored-bytes', 'default'),
    ).toMatchObject({ limits: { ...limits, perMinute: 700 }, maxStoredBytes: null, maxEndpoints: 0 });
    expect(await cli.json(...plan, 'put', 'cli-plan', '--individual')).toMatchObject({ limits: null, maxEndpoints: 0 });
    expect(await cli.json(...plan, 'get', 'cli-plan')).toMatchObject({ limits: null });
    expect((await cli.run([...plan, 'list'])).stdout).toContain('cli-plan\tagreed with each account\tdefault\t0\t0\n');
    expect(await cli.json(...update, '--plan', 'cli-plan')).toMatchObject({ plan: 'cli-plan' });
    expect(await cli.run([...plan, 'delete', 'cli-plan', '--yes'])).toMatchObject({ code: 1 });
    await cli.json(...update, '--plan', 'enterprise', '--per-minute', '100000', '--per-day', '100000');
    expect(await cli.json(...plan, 'delete', 'cli-plan', '--yes')).toEqual({ name: 'cli-plan', deleted: true });
    const audited = (await cli.json('admin', 'audit', '--limit', '2')) as unknown as { action: string }[];
    expect(audited.map(({ action }) => action)).toEqual(['plan.deleted', 'account.changed']);
    expect((await cli.run(['admin', 'audit', '--account', account.id])).stdout).toContain(
      '\toperator\taccount.changed\t',
    );
  });

  it.each(['-', '--help', '0', 'z'.repeat(40)])(
    'takes every name of a plan, and the greatest limits: %s',
    async (name) => {
      const options = ['--per-minute', '1000000000', '--per-day', '1000000000', '--max-endpoints', '100'];
      const stored = ['--max-stored-bytes', String(Number.MAX_SAFE_INTEGER)];
      const limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
      const plan = { name, limits, maxStoredBytes: Number.MAX_SAFE_INTEGER, maxEndpoints: 100 };
      // A name may look like an option.
      const run = async (...args: string[]) =>
        JSON.parse((await cli.run(['admin', 'plans', ...args, '--json', '--', name])).stdout) as object;
      expect(await run('put', ...options, ...stored)).toMatchObject(plan);
      expect(await run('get')).toMatchObject(plan);
      expect(await run('delete', '--yes')).toEqual({ name, deleted: true });
    },
  );

  it('overwrites no plan that another operator has changed after it was read', async () => {
    const path = '/admin/plans/cli-race';
    const terms = (perMinute: number) => ({ limits: { perMinute, perDay: 50 } });
    await api.ask(OPERATOR, `PUT ${path}`, terms(5));
    // Passes everything on. Right before a change, another operator is quicker.
    const proxy = createServer((request, response) => {
      void (async () => {
        const { method = '', url = '', headers } = request;
        const body = await text(request);
        if (method === 'PUT') await api.ask(OPERATOR, `PUT ${path}`, terms(7));
        const { authorization, 'if-match': tag, 'content-type': type } = headers;
        const sent = { authorization, 'if-match': tag, 'content-type': type };
        const {
          status,
          bytes,
          headers: got,
        } = await api.call({ method, path: url, headers: sent, ...(body !== '' && { body }) });
        response.writeHead(status, { 'content-type': got['content-type'] ?? '' }).end(bytes);
      })();
    });
    const env = { SLUICE_BASE_URL: await listen(proxy) };
    try {
      const failed = await cli.run(['admin', 'plans', 'put', 'cli-race', '--per-minute', '6'], { env });
      expect(failed).toMatchObject({ code: 1, stdout: '' });
      expect(failed.stderr).toContain('Somebody else has changed the plan');
      expect((await api.ask(OPERATOR, `GET ${path}`)).body).toMatchObject(terms(7));
    } finally {
      proxy.close();
    }
  });
});
