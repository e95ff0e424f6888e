import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { accountForEach, pagesOf, sharedApi } from '../support/api.js';
import { Cli, CLI_SCRIPT } from '../support/cli.js';
import { listen, until } from '../support/processes.js';

/** Passes requests on to an API, and lets a test do something with the response to the n-th batch, from 1. */
class Proxy {
  url = '';
  batches = 0;
  onBatch: (n: number, response: ServerResponse) => boolean = () => true;
  private readonly server = createServer((request, response) => {
    void this.pass(request, response);
  });

  constructor(private readonly target: () => string) {}

  async start(): Promise<void> {
    this.url = await listen(this.server);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const body = await buffer(request);
    const names = ['authorization', 'content-type', 'idempotency-key'];
    const passed = Object.fromEntries(
      names.flatMap((name) => (name in headers ? [[name, String(headers[name])]] : [])),
    );
    const result = await fetch(`${this.target()}${url}`, { method, headers: passed, ...(body.length > 0 && { body }) });
    const text = await result.text();
    if (url.endsWith('/batch') && !this.onBatch(++this.batches, response)) return;
    response
      .writeHead(result.status, [...result.headers].filter(([name]) => name !== 'content-length').flat())
      .end(text);
  }
}

describe('sluice send --batch', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const proxy = new Proxy(() => api.url);
  let cli: Cli;
  beforeAll(() => proxy.start());
  beforeEach(() => {
    proxy.batches = 0;
    proxy.onBatch = () => true;
    cli = new Cli({ SLUICE_BASE_URL: proxy.url, SLUICE_API_KEY: account.key });
  });
  afterEach(() => {
    cli.remove();
  });
  afterAll(() => {
    proxy.stop();
  });

  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);
  const stored = async () => {
    const pages = await pagesOf(api, account, '/messages', 100);
    return pages.flatMap((page) => page.map(({ message }) => String(message))).sort();
  };

  const state = () => JSON.parse(readFileSync(join(cli.home, 'state.json'), 'utf8')) as { at: string | null };
  const refuse = (response: ServerResponse, status: number, code: string) => {
    response.writeHead(status, { 'retry-after': '1', 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ status, code, detail: 'Refused.', title: 'Refused', requestId: 'r' }));
    return false;
  };

  it('sends each line once, whatever its characters, and prints the messages as lines of JSON', async () => {
    const texts = ['plain', ' spaces ', '\ufeffmark', 'separators \u2028 \r inside', '🚀 "quotes"'];
    const file = cli.file('lines', `${texts.join('\n')}\r\n\n${'é'.repeat(100_000)}`);
    const { code, stdout, stderr } = await cli.run(['send', '--batch', '-f', file, '--json', '--batch-size', '4']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const sent = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { message: string }).message);
    expect(sent).toEqual([...texts, 'é'.repeat(100_000)]);
    expect(await stored()).toEqual([...sent].sort());
    expect(proxy.batches).toBe(2);
  });

  it('sends lines of JSON with their own fields, and with those of the options', async () => {
    const input = [
      '"a \\"text\\""',
      '{"message":"own","type":"order.sent","metadata":{"__proto__":"data"},"orderingKey":"k"}',
      '{"message":"the options"}',
      JSON.stringify({ message: '\u0001'.repeat(60_000), metadata: { name: 'é'.repeat(500) } }),
    ];
    const file = cli.file('lines.jsonl', `${input.join('\n')}\n`);
    const options = ['--type', 'order.paid', '-m', 'region=eu'];
    const { code, stderr } = await cli.run(['send', '--batch', file, ...options]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '✓ 4 messages sent.\n' });
    const [page = []] = await pagesOf(api, account, '/messages', 100);
    const fieldsOf = ({ message, type, metadata, orderingKey }: Record<string, unknown>) => [
      String(message).slice(0, 11),
      type,
      JSON.stringify(metadata),
      orderingKey,
    ];
    expect(page.map(fieldsOf).reverse()).toEqual([
      ['a "text"', 'order.paid', '{"region":"eu"}', undefined],
      ['own', 'order.sent', '{"__proto__":"data"}', 'k'],
      ['the options', 'order.paid', '{"region":"eu"}', undefined],
      ['\u0001'.repeat(11), 'order.paid', JSON.stringify({ name: 'é'.repeat(500) }), undefined],
    ]);
  });

  it.each([
    ['{"message":"x"', 'Line 2 is not JSON.'],
    ['17', 'Line 2 must be a string, or an object with the field message.'],
    ['{"text":"x"}', 'Line 2 must be a string, or an object with the field message.'],
    ['["x"]', 'Line 2 must be a string, or an object with the field message.'],
    ['null', 'Line 2 must be a string, or an object with the field message.'],
    ['{"message":"x","type":"*"}', 'line 2: type must be words'],
  ])('sends nothing of a request with the line %s, and names it', async (line, why) => {
    const refused = await cli.run(['send', '--batch', '--jsonl'], { input: `"x"\n${line}\n` });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(why);
    expect(await stored()).toEqual([]);
  });

  it('sends lines of a file as they are, whatever they look like, without --jsonl', async () => {
    const lines = ['{"message":"x"}', '"y"'];
    await cli.run(['send', '--batch'], { input: lines.join('\n') });
    expect(await stored()).toEqual(lines.sort());
  });

  it('refuses to continue a run with other fields', async () => {
    const args = ['send', '--batch', '--batch-size', '10', '--file', cli.file('lines', lines(30).join('\n'))];
    proxy.onBatch = (n, response) => n < 2 || refuse(response, 400, 'validation_failed');
    expect((await cli.run([...args, '--type', 'order.paid'])).code).toBe(1);
    proxy.onBatch = () => true;
    const other = await cli.run([...args, '--type', 'order.sent']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('with other values of --type') as string });
    expect((await cli.run([...args, '--type', 'order.paid'])).code).toBe(0);
    expect(await stored()).toHaveLength(30);
  });

  it('continues after it was killed while a request was under way, and sends nothing twice', async () => {
    const args = ['send', '--batch', '--batch-size', '10', '--file', cli.file('lines', lines(95).join('\n'))];
    const killed = cli.start(args);
    proxy.onBatch = (n) => {
      if (n === 4) killed.signal('SIGKILL');
      return n !== 4;
    };
    expect((await killed.ended()).code).toBe('SIGKILL');
    expect(await stored()).toHaveLength(40);
    const resumed = await cli.run(args);
    expect(resumed).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Continuing after line 30\.\n✓ 65 messages sent\.\n$/) as string,
    });
    expect(await stored()).toEqual(lines(95).sort());
    // The run is over: the next one is another.
    await cli.run(args);
    expect(await stored()).toHaveLength(190);
  });

  it('can be stopped by Ctrl-C, and refuses to continue with other lines', async () => {
    const input = lines(60).join('\n');
    const args = ['send', '--batch', '--batch-size', '10', '--state', 'state.json'];
    const stopped = cli.start(args, { input });
    proxy.onBatch = (n) => {
      if (n === 3) stopped.signal('SIGINT');
      return n !== 3;
    };
    expect(await stopped.ended()).toMatchObject({
      code: 130,
      stderr: 'Stopped after line 20. Run the same command again to continue.\nerror: Interrupted.\n',
    });
    const other = await cli.run(args, { input: input.replace('line 7', 'other') });
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('are not those that were sent') as string });
    expect(await cli.run(args, { input })).toMatchObject({ code: 0 });
    expect(await stored()).toEqual(lines(60).sort());
  });

  it('refuses to continue with another file, account or options, and beside another process', async () => {
    const input = cli.file('lines', lines(60).join('\n'));
    const args = ['send', '--batch', '--batch-size', '10', '--file', input];
    const running = cli.start(args);
    proxy.onBatch = (n) => n < 3;
    await until(() => proxy.batches === 3);
    const beside = await cli.run(args);
    running.signal('SIGINT');
    expect((await running.ended()).code).toBe(130);
    proxy.onBatch = () => true;
    expect(beside).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: Process \d+ is sending/) as string,
    });

    // All of it would be passed over: it has fewer lines than were sent.
    cli.file('lines', lines(5).join('\n'));
    const shorter = await cli.run(args);
    expect(shorter).toMatchObject({ code: 2, stderr: expect.stringContaining('are not those that were') as string });

    // These are in doubt: it is not known that they are stored.
    cli.file('lines', lines(60).join('\n').replace('line 21\n', '\n'));
    const doubtful = await cli.run(args);
    expect(doubtful).toMatchObject({ code: 2, stderr: expect.stringContaining('Lines 22 to 31 are not') as string });

    cli.file('lines', lines(60).join('\n'));
    const { key } = await api.signUp();
    for (const [options, env, sentence] of [
      [[], { SLUICE_API_KEY: key }, `started for ${account.id}, and your key is of acct_`],
      [['--deliver-at', '2030-01-01'], {}, 'started without --deliver-at.'],
      [['--batch-size', '20'], {}, 'started with --batch-size 10.'],
      [['--from-line', '2'], {}, 'started with --from-line 1.'],
    ] as const) {
      const refused = await cli.run([...args, ...options], { env });
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) as string });
    }
    expect(await cli.run(args)).toMatchObject({ code: 0 });
    expect(await stored()).toEqual(lines(60).sort());
  });

  it('counts the time in which a request can be repeated from its first try', async () => {
    const args = ['send', '--batch', '--state', 'state.json'];
    proxy.onBatch = () => false;
    const ats: (string | null)[] = [];
    while (ats.length < 2) {
      const [stopped, before] = [cli.start(args, { input: 'line' }), proxy.batches];
      await until(() => proxy.batches > before);
      stopped.signal('SIGINT');
      expect(await stopped.ended()).toMatchObject({ code: 130 });
      ats.push(state().at);
    }
    expect(ats[1]).toBe(ats[0]);
    cli.file('state.json', JSON.stringify({ ...state(), at: new Date(Date.now() - 23.5 * 3_600_000) }));
    const late = await cli.run(args, { input: 'line' });
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('too long ago') as string });
  });

  it('sends everything although nobody reads the output, and names the line of a fault', async () => {
    const file = cli.file('lines', `\n${lines(40).join('\n')}\na\0b`);
    const script = `"${process.execPath}" "${CLI_SCRIPT}" send --batch --batch-size 4 --json "${file}" | true; echo "\${PIPESTATUS[0]}"`;
    const env = { ...cli.env, SLUICE_BASE_URL: api.url };
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { env, encoding: 'utf8' });
    expect(stdout).toBe('1\n');
    expect(stderr).toContain('line 42');
    expect(await stored()).toEqual(lines(40).sort());
  });

  it.each([
    [401, 'invalid_api_key', 3],
    [403, 'account_suspended', 3],
    [507, 'storage_full', 4],
  ])('has no request in doubt after a %d %s', async (status, problem, code) => {
    proxy.onBatch = (_, response) => refuse(response, status, problem);
    expect(await cli.run(['send', '--batch', '--state', 'state.json'], { input: 'line' })).toMatchObject({ code });
    expect(state().at).toBeNull();
  });

  it('waits for the limit of the plan', async () => {
    proxy.onBatch = (n, response) => n !== 1 || refuse(response, 429, 'rate_limit_exceeded');
    const { code, stderr } = await cli.run(['send', '--batch'], { input: 'one' });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^waiting until .* limit of the plan\n✓ 1/) as string,
    });
  });

  it('stops at a line that is no message, having sent those before it', async () => {
    const file = cli.file('lines', Buffer.concat([Buffer.from('good\n'), Buffer.from([0xff, 0x0a])]));
    const bad = await cli.run(['send', '--batch', '--batch-size', '1', file]);
    expect(bad).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error: Line 2 is not valid UTF-8.') as string,
    });
    cli.file('lines', `good\n${'x'.repeat(262_145)}`);
    const long = await cli.run(['send', '--batch', '--batch-size', '1', file]);
    expect(long.stderr).toContain('error: Line 2 has more than 262144 bytes.');
    cli.file('lines', 'good\nmended\n');
    await cli.run(['send', '--batch', file]);
    expect(await stored()).toEqual(['good', 'mended']);
  });
});
