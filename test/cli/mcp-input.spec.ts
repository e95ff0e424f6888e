import { createServer, type Server } from 'node:http';
import { Cli } from '../support/cli.js';
import { listen } from '../support/processes.js';

const MAX_LINE = 10 * 1_024 * 1_024;

interface Response {
  readonly id: number | string | null;
  readonly error?: { readonly code: number };
  readonly result?: { readonly isError?: boolean; readonly content?: { readonly text: string }[] };
}

const call = (id: number | string, name: string, args: object = {}) =>
  line({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
const cancel = (requestId: number | string) =>
  line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
const line = (message: unknown) => `${JSON.stringify(message)}\n`;

describe('The input of sluice mcp', () => {
  let server: Server;
  let cli: Cli;
  let requests: string[];
  beforeEach(async () => {
    requests = [];
    server = createServer((request, response) => {
      requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
      request.resume();
      setTimeout(() => response.end('{"id":"msg_x"}'), 500);
    });
    cli = new Cli({ SLUICE_BASE_URL: await listen(server), SLUICE_API_KEY: 'slc_x' });
  });
  afterEach(() => {
    cli.remove();
    server.close();
  });

  const run = async (input: string, ...options: string[]) => {
    const { stdout, ...ended } = await cli.run(['mcp', '--write', ...options], { input });
    const lines = stdout.split('\n').filter((text) => text !== '');
    return { ...ended, responses: lines.map((text) => JSON.parse(text) as Response) };
  };
  const ids = (responses: readonly Response[]) => responses.map(({ id }) => id).sort();

  it.each([
    ['one call', call(1, 'send_message', { message: 'x' }), [1]],
    [
      'several calls',
      call(1, 'get_usage') + call('a', 'get_message', { id: 'msg_x' }) + call(0, 'get_usage'),
      [0, 1, 'a'],
    ],
    ['calls with the same id', call(1, 'get_usage') + call(1, 'get_usage'), [1, 1]],
    ['a call without the end of its line', call(1, 'get_usage').trimEnd(), [1]],
    ['a call, and another that is cancelled', call(1, 'get_usage') + call(2, 'get_usage') + cancel(2), [1]],
    ['a call that is cancelled', call(1, 'get_usage') + cancel(1), []],
    ['a call, and a cancellation of none', call(1, 'get_usage') + cancel(2), [1]],
    ['a request of an unknown method', line({ jsonrpc: '2.0', id: 1, method: 'x' }), [1]],
    ['a call of an unknown tool', call(1, 'x'), [1]],
  ])('gets its responses when it ends after %s', async (_, input, expected) => {
    const { responses, ...ended } = await run(input);
    expect({ ...ended, ids: ids(responses) }).toEqual({ code: 0, stderr: '', ids: expected });
  });

  it('may have long lines, but ends the program with a sentence when one is longer than 10 MiB', async () => {
    const long = call(1, 'get_usage').padStart(MAX_LINE - 100_000);
    expect(await run(long)).toMatchObject({ code: 0, stderr: '', responses: [{ id: 1 }] });

    const { responses, ...ended } = await run(call(1, 'get_usage') + 'x'.repeat(MAX_LINE + 1));
    expect(ended).toEqual({ code: 1, stderr: 'error: A line of the input is longer than 10 MiB.\n' });
    expect(ids(responses)).toEqual([1]);
    const { stderr } = await run('x'.repeat(MAX_LINE + 1), '--json');
    expect(JSON.parse(stderr)).toEqual({ error: { message: 'A line of the input is longer than 10 MiB.' } });
  });

  const request = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
  it.each([
    ['no JSON', 'secret\n', -32_700],
    ['JSON in part', '{"secret":\n', -32_700],
    ['nothing', '\n', -32_700],
    ['a batch', line([request(1)]), -32_600],
    ['null', 'null\n', -32_600],
    ['a number', '1\n', -32_600],
    ['another object', line({ secret: 1 }), -32_600],
    ['a request whose id is null', line(request(null)), -32_600],
    ['a request whose id is fractional', line(request(1.5)), -32_600],
  ])('gets an error and a remark for a line with %s, and goes on', async (_, malformed, code) => {
    const { responses, ...ended } = await run(malformed + call(1, 'get_usage'));
    expect(ended).toEqual({
      code: 0,
      stderr: `error: A line of the input is ${code === -32_700 ? 'not JSON' : 'no JSON-RPC message of MCP'}.\n`,
    });
    expect(responses).toMatchObject([{ id: null, error: { code } }, { id: 1 }]);
  });

  it.each([
    ['find_messages', {}],
    ['get_message', { id: 'msg_x' }],
    ['list_attempts', { id: 'msg_x' }],
    ['get_usage', {}],
    ['simulate', { perMinute: 1, minutes: 1 }],
    ['send_message', { message: 'x' }],
    ['retry_message', { id: 'msg_x' }],
    ['retry_failed_messages', { since: '2026-01-01T00:00:00Z', until: '2027-01-01T00:00:00Z' }],
    ['replay_endpoint', { id: 'ep_x', since: '2026-01-01T00:00:00Z' }],
  ])('gets an error that names an argument which %s does not have', async (name, args) => {
    const { responses } = await run(call(1, name, { ...args, deliver_at: '2030-01-01T00:00:00Z' }));
    expect(responses).toMatchObject([{ id: 1, result: { isError: true } }]);
    expect(responses[0]?.result?.content?.[0]?.text).toContain('deliver_at');
    expect(requests).toEqual([]);
    await run(call(1, name, args));
    expect(requests).not.toEqual([]);
  });
});
