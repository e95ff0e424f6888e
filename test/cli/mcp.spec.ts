import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { accountForEach, sharedApi } from '../support/api.js';
import { Cli, CLI_SCRIPT } from '../support/cli.js';

const READS = ['find_messages', 'get_message', 'get_usage', 'list_attempts', 'simulate'];
const WRITES = ['replay_endpoint', 'retry_failed_messages', 'retry_message', 'send_message'];

describe('sluice mcp', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  let cli: Cli;
  let client: Client;
  beforeEach(() => {
    cli = new Cli({ SLUICE_BASE_URL: api.url, SLUICE_API_KEY: account.key });
    client = new Client({ name: 'test', version: '1' });
  });
  afterEach(async () => {
    await client.close();
    cli.remove();
  });

  const connect = (...args: string[]) =>
    client.connect(
      new StdioClientTransport({ command: process.execPath, args: [CLI_SCRIPT, 'mcp', ...args], env: cli.env }),
    );
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    const [{ text } = { text: '' }] = content as { text: string }[];
    return { text, isError };
  };
  const json = async <T>(name: string, args?: Record<string, unknown>): Promise<T> => {
    const { text, isError } = await call(name, args);
    if (isError) throw new Error(text);
    return JSON.parse(text) as T;
  };

  it('offers only tools that read, and with --write also those that change something', async () => {
    await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(READS);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    for (const { inputSchema } of tools)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    for (const name of WRITES) expect(await call(name, { message: 'hello' })).toMatchObject({ isError: true });
    expect((await json<{ data: unknown[] }>('find_messages')).data).toEqual([]);

    const writing = new Client({ name: 'test', version: '1' });
    await writing.connect(
      new StdioClientTransport({ command: process.execPath, args: [CLI_SCRIPT, 'mcp', '--write'], env: cli.env }),
    );
    const names = (await writing.listTools()).tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]);
    expect(names.sort()).toEqual([...READS.map((name) => [name, true]), ...WRITES.map((name) => [name, false])].sort());
    await writing.close();
  });

  it('finds messages, and shows what became of them, the usage, and what limits would admit', async () => {
    const failed = await api.sent(account, { body: { message: 'one', type: 'order.paid' } });
    await api.sent(account, { body: { message: 'two', type: 'user.created' } });
    await api.become(failed.id, 'failed');
    await connect();
    const found = await json<{ data: { id: string }[]; nextCursor: string }>('find_messages', { limit: 1 });
    expect([found.data.length, typeof found.nextCursor]).toEqual([1, 'string']);
    const rest = await json<{ data: { id: string }[] }>('find_messages', { cursor: found.nextCursor });
    expect(rest.data.map(({ id }) => id)).toEqual([failed.id]);
    const filter = { status: 'failed', type: 'order.*', since: '2026-01-01T00:00:00Z' };
    expect(await json('find_messages', filter)).toMatchObject({ data: [{ id: failed.id }], nextCursor: null });
    expect(await json('get_message', { id: failed.id })).toMatchObject({ status: 'failed', message: 'one' });
    expect(await json('list_attempts', { id: failed.id })).toEqual([]);
    expect(await json('get_usage')).toMatchObject({ minute: { used: expect.any(Number) as number } });
    expect(await json('simulate', { perMinute: 10, minutes: 1 })).toMatchObject({ admitted: 10, refused: 0 });
  });

  it('sends, retries and replays with --write', async () => {
    await connect('--write');
    const { id } = await json<{ id: string }>('send_message', { message: 'one', metadata: { region: 'eu' } });
    expect(await json('get_message', { id })).toMatchObject({ message: 'one', metadata: { region: 'eu' } });
    await api.become(id, 'failed');
    expect(await json('retry_message', { id })).toMatchObject({ status: 'queued' });
    await api.become(id, 'failed');
    const period = { since: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' };
    expect(await json('retry_failed_messages', period)).toEqual({ count: 1 });
    expect((await call('replay_endpoint', { id: 'ep_x', since: '2026-01-01T00:00:00Z' })).text).toContain('ndpoint');
  });

  it('replays what an endpoint has missed, and finds what is for it', async () => {
    await api.ask(account, 'PATCH /account', { delivery: 'webhooks' });
    const missed = await api.sent(account);
    await api.become(missed.id, 'failed');
    const { id } = (await api.ask(account, 'POST /endpoints', { url: 'https://example.com/hooks' })).body as {
      id: string;
    };
    await connect('--write');
    expect(await json('find_messages', { endpointId: id })).toMatchObject({ data: [] });
    expect(await json('replay_endpoint', { id, since: '2026-01-01T00:00:00Z' })).toEqual({ count: 1 });
    expect(await json('find_messages', { endpointId: id })).toMatchObject({ data: [{ id: missed.id }] });
    expect(await json('find_messages', { endpointId: id, status: 'failed' })).toMatchObject({ data: [] });
  });

  it.each([
    ['an id that is none', 'get_message', { id: '../admin' }],
    ['a message that does not exist', 'get_message', { id: 'msg_x' }],
    ['a status that does not exist', 'find_messages', { status: 'lost' }],
    ['a time that is none', 'find_messages', { since: 'yesterday' }],
    ['too many', 'find_messages', { limit: 101 }],
  ])('answers %s with a sentence, and goes on', async (_, name, args) => {
    await connect();
    const { text, isError } = await call(name, args);
    expect({ isError, isSentence: text.length > 10 && !/ at .*:\d+/.test(text) }).toEqual({
      isError: true,
      isSentence: true,
    });
    expect(text).not.toContain(account.key);
    expect((await json<{ data: unknown[] }>('find_messages')).data).toEqual([]);
  });

  const TIMES = {
    ...{ '2026-01-01T00:00:00Z': true, '2026-01-01t00:00:00z': true, '2026-01-01T00:00:00.123456Z': true },
    ...{ '2026-01-01T00:00:00+01:00': true, '2026-01-01T00:00:00-00:00': true, '2026-01-01t00:00:00.5-23:59': true },
    ...{ '2026-01-01T00:00Z': false, '2026-01-01T00:00:00': false, '2026-01-01': false, '2026-11-31T00:00:00Z': false },
    ...{ '2026-01-01T24:00:00Z': false, '2026-01-01T00:00:00+0100': false, '': false, yesterday: false },
  };

  it('reads times as the API does, in each of its tools', async () => {
    await connect('--write');
    const later = '2099-01-01T00:00:00Z';
    const tools: [string, (time: string) => Record<string, unknown>, object][] = [
      ['find_messages', (since) => ({ since }), { data: [] }],
      ['find_messages', (time) => ({ since: time, until: later }), { data: [] }],
      ['retry_failed_messages', (since) => ({ since, until: later }), { count: 0 }],
    ];
    for (const [time, isRight] of Object.entries(TIMES)) {
      const url = `GET /messages?since=${encodeURIComponent(time)}`;
      expect([time, (await api.ask(account, url)).status]).toEqual([time, isRight ? 200 : 400]);
      for (const [name, args, result] of tools) {
        const { text, isError } = await call(name, args(time));
        expect([time, isError]).toEqual([time, !isRight]);
        if (isRight) expect(JSON.parse(text)).toMatchObject(result);
        else expect(text).toContain('must be a time like');
      }
    }
  });

  it('ends with its input, and needs a key', async () => {
    expect(await cli.run(['mcp'])).toEqual({ code: 0, stdout: '', stderr: '' });
    const { code, stderr } = await cli.run(['mcp'], { env: { SLUICE_API_KEY: '' } });
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('You have no key') as string });
  });
});
