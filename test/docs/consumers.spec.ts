import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../support/hostile-proxy.js';
import { until } from '../support/processes.js';
import { faultOf, Programs, TEXTS } from './programs.js';

describe('The consumers of the documentation', () => {
  const programs = new Programs();
  const { api, account, folder } = programs;
  const outcomes = async () => {
    const rows = await api.sql<{ text: string; status: string; attempts: number }>(
      'SELECT text, status, attempts FROM sluice.messages WHERE account_id = $1',
      [account.id],
    );
    return new Map(rows.map(({ text, status }) => [text, status]));
  };
  beforeEach(async () => {
    await api.ask(account, 'PATCH /account', { delivery: 'pull' });
  });

  /** Expressions of what a handler may throw. */
  const ERRORS = [
    ...[
      'new Error("x".repeat(992) + "😀😀😀")',
      '"x".repeat(999) + "😀"',
      'new Error("\\0")',
      '"\\0"',
      '""',
      'new Error("")',
    ],
    ...[
      '"\\ud83d"',
      '"\\ude00x"',
      'undefined',
      'null',
      'Object.create(null)',
      'Symbol("s")',
      '"x".repeat(100000)',
      '-1',
    ],
    ...[
      '({ toString() { throw new Error("no") } })',
      '({ get message() { throw 1 } })',
      '"\\"quotes\\"\\n%s -d"',
      '[]',
    ],
  ];
  const CONSUME_MJS = `
      import { consume } from './consume.mjs';
      const { url, errors, count } = JSON.parse(fs.readFileSync(0));
      const stop = new AbortController();
      const handled = new Set();
      const { setTimeout } = globalThis;
      globalThis.setTimeout = (resolve, ms, ...args) =>
        setTimeout(resolve, new Error().stack.includes('/consume.mjs') ? ms / 50 : ms, ...args);
      await consume(url, process.env.KEY, async (message) => {
        handled.add(message);
        if (handled.size === count) stop.abort();
        if (errors.includes(message)) throw (0, eval)(message);
      }, stop.signal);
      console.log(JSON.stringify([...handled]));`;

  it.each([
    ['without faults', []],
    [
      'through a proxy that is away',
      ['a page with status 502', 'an empty 503', 'no response', 'a response that is not HTTP'],
    ],
    ['with a first lease that goes elsewhere', ['a redirect with 301', 'an empty 404']],
  ] as const)('consume.mjs reports every message, whatever its handler threw: %s', async (_, faults) => {
    const good = Array.from({ length: 5 }, (_, n) => `good ${n}`);
    await api.sendBatch(account, { messages: [...good, ...ERRORS, 'last'] });
    const input = {
      errors: ERRORS,
      url: programs.proxy.with(...faults.map(faultOf)),
      count: good.length + ERRORS.length + 1,
    };
    await programs.runJson('node', ['--input-type=module', '-e', CONSUME_MJS], input);
    const ended = await outcomes();
    expect([...good, 'last'].map((text) => ended.get(text))).toEqual(Array(6).fill('delivered'));
    expect(ERRORS.map((text) => [text, ended.get(text)])).toEqual(ERRORS.map((text) => [text, 'queued']));
  });

  it.each([
    'a page with status 502',
    'a 503 with garbage in Retry-After',
    'no response',
    'a response that is lost',
    'a response that is cut',
    'a 408',
    'a 200 with a page',
    'a redirect with 302',
  ])('consume.mjs reports a batch again: %s', async (title) => {
    await api.sendBatch(account, { messages: ['one', '1'] });
    const fault = faultOf(title);
    const pass: Fault = async (response, forward) => {
      const { status, headers, body } = await forward();
      response.writeHead(status, headers).end(body);
    };
    // The lease, the acknowledgement twice, and the rejection.
    const input = { url: programs.proxy.with(pass, fault, fault, pass, fault), errors: ['1'], count: 2 };
    await programs.runJson('node', ['--input-type=module', '-e', CONSUME_MJS], input);
    expect(await outcomes()).toEqual(
      new Map([
        ['one', 'delivered'],
        ['1', 'queued'],
      ]),
    );
  });

  it('consume.sh gives its command any text as it is, and goes on after faults', async () => {
    const out = join(folder, 'out');
    mkdirSync(out);
    await api.sendBatch(account, { messages: Object.values(TEXTS).filter((text) => text.length < 1_000) });
    await api.sent(account, { message: TEXTS['262,144 bytes'] ?? '' });
    await api.sent(account, { message: 'reject this' });
    const command = ['bash', '-c', 'file=$(mktemp "$0/XXXXXX"); cat > "$file"; ! grep -q "^reject" "$file"', out];
    const faults = ['a page with status 502', 'a redirect with 301', 'a response that is not HTTP'].map(faultOf);
    const consumer = programs.start('bash', ['consume.sh', ...command], { SLUICE: programs.proxy.with(...faults) });
    const isDone = async () => {
      const ended = await outcomes();
      const open = [...ended].filter(([text, status]) => text !== 'reject this' && status !== 'delivered');
      const [rejected] = await api.sql<{ n: number }>(
        `SELECT attempts AS n FROM sluice.messages WHERE account_id = $1 AND text = 'reject this' AND status = 'queued'`,
        [account.id],
      );
      return open.length === 0 && (rejected?.n ?? 0) > 0;
    };
    try {
      await until(isDone, 120_000);
    } finally {
      process.kill(-(consumer.child.pid ?? 0), 'SIGKILL');
    }
    const { output } = await consumer.ended();
    expect(output[1]).toContain('/messages/lease returned 301');
    const got = new Set(readdirSync(out).map((file) => readFileSync(join(out, file), 'utf8')));
    expect([...(await outcomes()).keys()].filter((text) => !got.has(text))).toEqual([]);
  });

  it('events.mjs connects again after faults, and misses nothing', async () => {
    const faults = [
      'a page with status 502',
      'an empty 503',
      'no response',
      'a redirect with 301',
      'a response that is not HTTP',
    ];
    const url = programs.proxy.with(...faults.map(faultOf));
    const script = `
        import { events } from './events.mjs';
        const { url, api } = JSON.parse(fs.readFileSync(0));
        const { setTimeout } = globalThis;
        globalThis.setTimeout = (resolve, ms, ...args) =>
          setTimeout(resolve, new Error().stack.includes('/events.mjs') ? ms / 50 : ms, ...args);
        const stop = new AbortController();
        // Not through the faults, which are for the program.
        const send = () => fetch(api + '/messages', {
          method: 'POST',
          headers: { authorization: 'Bearer ' + process.env.KEY, 'content-type': 'application/json' },
          body: '{"message":"hello"}',
        });
        const again = setInterval(send, 500);
        for await (const { type, message } of events(url, process.env.KEY, stop.signal)) {
          clearInterval(again);
          console.log(JSON.stringify([type, message.message]));
          stop.abort();
          break;
        }`;
    const event = await programs.runJson('node', ['--input-type=module', '-e', script], { url, api: programs.api.url });
    expect(event).toEqual(['message.queued', 'hello']);
  });
});
