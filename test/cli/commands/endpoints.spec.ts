import { accountOf, sharedApi } from '../../support/api.js';
import { inProcessCli } from '../../support/in-process-cli.js';

describe('The commands for endpoints', () => {
  const api = sharedApi();
  const account = accountOf(api);
  const cli = inProcessCli(() => ({ SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key }));

  it('manages endpoints', async () => {
    const created = await cli.run(['endpoints', 'create', 'https://example.com/hooks', '--description', 'orders']);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_\S+\n$/) as string });
    const id = /ep_\w+/.exec(created.stderr)?.[0] ?? '';
    expect(await cli.json('endpoints', 'replay', id, '--since', '2026-01-01')).toEqual({ count: 0 });
    expect(await cli.json('endpoints', 'update', id, '--disable', '--rate-limit', '5')).toMatchObject({
      enabled: false,
      rateLimitPerSecond: 5,
      description: 'orders',
    });
    expect((await cli.run(['endpoints', 'list'])).stdout).toContain('disabled (by_account)');
    expect(await cli.json('list', '--endpoint', id)).toEqual([]);
    expect((await cli.run(['endpoints', 'rotate-secret', id, '--yes'])).stdout).toMatch(/^whsec_/);
    expect(await cli.json('endpoints', 'delete', id, '--yes')).toEqual({ id, deleted: true });
    expect(await cli.run(['endpoints', 'get', id])).toMatchObject({ code: 1, stdout: '' });
  });

  it('lists the messages for an endpoint, also those that wait, and by the status of the delivery to it', async () => {
    const { id } = await cli.json<{ id: string }>('endpoints', 'create', 'https://example.com/listed');
    await cli.run(['delivery', 'webhooks']);
    await cli.run(['send', 'for the endpoint']);
    await cli.run(['delivery', 'handler']);
    const sent = expect.stringMatching(/^msg_\w+\tqueued\t.*for the endpoint\n$/) as string;
    expect((await cli.run(['list', '--endpoint', id])).stdout).toEqual(sent);
    for (const status of ['failed', 'delivered']) {
      expect(await cli.json('list', '--endpoint', id, '--status', status)).toEqual([]);
    }
  });

  it('says which messages an endpoint gets, and what is sent along', async () => {
    const types = ['--type', 'order.*', '--type', 'sluice.message.failed'];
    const headers = ['--header', 'X-Tenant: a: b', '--header', 'Authorization:Bearer hidden'];
    const created = await cli.json<{ id: string }>(
      ...['endpoints', 'create', 'https://example.com/typed', ...types, ...headers],
    );
    const { id } = created;
    const headerNames = ['X-Tenant', 'Authorization'];
    expect(created).toMatchObject({ types: ['order.*', 'sluice.message.failed'], headerNames });
    const shown = (await cli.run(['endpoints', 'get', id])).stdout;
    expect(shown).toContain('Types\torder.*, sluice.message.failed\n');
    expect(shown).toContain('Headers\tX-Tenant, Authorization\n');
    expect(shown + (await cli.run(['endpoints', 'list'])).stdout).not.toContain('hidden');
    const update = (...args: string[]) => cli.json('endpoints', 'update', id, ...args);
    expect(await update('--type', 'user.new')).toMatchObject({ types: ['user.new'], headerNames });
    expect(await update('--all-types')).toMatchObject({ types: [], headerNames });
    expect((await cli.run(['endpoints', 'list'])).stdout).toMatch(/\tall\t/);
    expect(await update('--header', 'X-Other: 1')).toMatchObject({ types: [], headerNames: ['X-Other'] });
    expect(await update('--without-headers')).toMatchObject({ headerNames: [] });
    for (const [args, sentence] of [
      [['--type', 'a', '--all-types'], /cannot be used with/],
      [['--header', 'a: b', '--without-headers'], /cannot be used with/],
      [['--type', 'order*'], /It must be a type such as order\.paid/],
      [['--header', 'no colon'], /'Name: value'/],
      [['--header', ': value'], /'Name: value'/],
    ] as const) {
      const refused = await cli.run(['endpoints', 'update', id, ...args]);
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) as string });
    }
    const forbidden = await cli.run(['endpoints', 'update', id, '--header', 'Host: example.com']);
    expect(forbidden).toMatchObject({ code: 1, stderr: expect.stringContaining('must not contain host') as string });
    await cli.json('endpoints', 'delete', id, '--yes');
  });
});
