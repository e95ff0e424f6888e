import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { accountForEach, sharedApi } from '../support/api.js';
import { FINAL, HostileProxy, PASSING, type Fault } from '../support/hostile-proxy.js';
import { until } from '../support/processes.js';
import { readPages } from './page.js';

const TEXTS: Readonly<Record<string, string>> = {
  'a plain one': 'Order 4711 is paid',
  quotes: `"double" 'single' \`back\` \\ $HOME $(id) %s %n %`,
  'line ends': '\n\r\n one \n\n',
  'a leading dash': '-d @/etc/passwd',
  'a leading @': '@/etc/passwd',
  'a null': 'null',
  JSON: '{"message":"other"}',
  emoji: '👩‍👩‍👧‍👦😀',
  'a byte order mark': '\ufeffx',
  controls: '\u0001\u001b[2J\u007f\u009b\u202e',
  'a space': ' ',
  '262,144 bytes': '"'.repeat(262_144),
  '262,144 bytes of emoji': '😀'.repeat(65_536),
};
const REFUSED_TEXTS = { 'an empty one': '', NUL: 'a\0b', '262,145 bytes': 'x'.repeat(262_145) };
/** Only what has texts of UTF-16 can try to send this. */
const HALF = 'a\ud83d';

/** What a sender did: the id that it returned, or its refusal; and how long it would have waited, in seconds. */
interface Sent {
  readonly id: string | null;
  readonly error: string;
  readonly waits: readonly number[];
}

function faultOf(title: string): Fault {
  const fault = PASSING[title] ?? FINAL[title];
  if (fault === undefined) throw new Error(`There is no ${title}.`);
  return fault;
}

interface Sending {
  readonly url: string;
  readonly text: string;
  readonly key: string;
}

/** Sends each without its waits, in one process. */
const SEND_MJS = `
  import { send } from './send.mjs';
  const cases = JSON.parse(fs.readFileSync(0));
  const results = [];
  const { setTimeout } = globalThis;
  let waits = [];
  // Others than the program set timers as well.
  globalThis.setTimeout = (resolve, ms, ...args) => {
    if (!new Error().stack.includes('/send.mjs')) return setTimeout(resolve, ms, ...args);
    waits.push(ms / 1000);
    return setImmediate(resolve);
  };
  for (const { url, text, key } of cases) {
    waits = [];
    try {
      results.push({ id: (await send(url, process.env.KEY, text, key)).id, error: '', waits });
    } catch (error) {
      results.push({ id: null, error: error.constructor.name + ': ' + error.message, waits });
    }
  }
  console.log(JSON.stringify(results));`;
const SEND_PY = `
import json, os, sys, time, send
results = []
for case in json.load(sys.stdin):
    waits = []
    send.time.sleep = waits.append
    try:
        results.append({"id": send.send(case["url"], os.environ["KEY"], case["text"], case["key"])["id"], "error": "", "waits": waits})
    except (send.Refused, RuntimeError) as error:
        results.append({"id": None, "error": type(error).__name__ + ": " + str(error), "waits": waits})
print(json.dumps(results))`;

describe('The programs of the documentation', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-programs-'));
  const bin = join(folder, 'bin');
  let proxy: HostileProxy;

  beforeAll(async () => {
    // Programs of the shell wait for nothing.
    mkdirSync(bin);
    writeFileSync(join(bin, 'sleep'), '#!/bin/sh\necho "waits $1" >&2\n', { mode: 0o755 });
    for (const { marks, text } of readPages().flatMap(({ blocks }) => blocks)) {
      if (marks.file !== undefined && !marks.file.includes('/')) writeFileSync(join(folder, marks.file), `${text}\n`);
    }
    proxy = new HostileProxy(api.url);
    await proxy.start();
  });
  afterAll(() => {
    proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (command: string, args: readonly string[], env: Readonly<Record<string, string>>, input = '') => {
    const { PATH = '' } = process.env;
    const child = spawn(command, args, {
      cwd: folder,
      env: { PATH: `${bin}:${PATH}`, KEY: account.key, ...env },
      detached: true,
    });
    child.stdin.on('error', () => undefined).end(input);
    const output = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, ended: async () => ({ code: await ended, output: await output }) };
  };
  const runJson = async <T>(command: string, args: readonly string[], input: unknown): Promise<T> => {
    const { code, output } = await start(command, args, {}, JSON.stringify(input)).ended();
    if (code !== 0) throw new Error(`It ended with ${String(code)}:\n${output.join('\n')}`);
    return JSON.parse(output[0]) as T;
  };

  const senders: Readonly<Record<string, (sendings: readonly Sending[]) => Promise<Sent[]>>> = {
    'send.mjs': (sendings) => runJson('node', ['--input-type=module', '-e', SEND_MJS], sendings),
    'send.py': (sendings) => runJson('python3', ['-c', SEND_PY], sendings),
    'send.sh': (sendings) =>
      Promise.all(
        sendings.map(async ({ url, text, key }) => {
          const { code, output } = await start('bash', ['send.sh', key], { SLUICE: url }, text).ended();
          const [stdout, stderr] = output;
          const waits = stderr.split('\n').flatMap((line) => /^waits (\d+)$/.exec(line)?.[1] ?? []);
          const sent = /^\{.*\}$/m.exec(stdout)?.[0];
          const id = code === 0 && sent !== undefined ? (JSON.parse(sent) as { id: string }).id : null;
          return { id, error: stderr, waits: waits.map(Number) };
        }),
      ),
  };
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  const names = Object.keys(senders).filter((name) => name !== 'send.py' || hasPython);

  const messages = async () => {
    const rows = await api.sql<{ id: string; text: string }>(
      'SELECT id, text FROM sluice.messages WHERE account_id = $1',
      [account.id],
    );
    return new Map(rows.map(({ id, text }) => [id, text]));
  };

  describe.each(names)('%s', (name) => {
    const send = (cases: Readonly<Record<string, { faults?: readonly Fault[]; text?: string }>>) =>
      senders[name]?.(
        Object.entries(cases).map(([title, { faults = [], text = title }], at) => ({
          ...{ url: proxy.with(...faults), text, key: `key-${at}` },
        })),
      ) ?? Promise.reject(new Error(`There is no ${name}.`));

    it('sends each message once, whatever happened to the first request', async () => {
      const sent = await send(
        Object.fromEntries(Object.entries(PASSING).map(([title, fault]) => [title, { faults: [fault] }])),
      );
      const stored = await messages();
      const titles = Object.keys(PASSING);
      expect(sent.map(({ id }) => stored.get(id ?? ''))).toEqual(titles);
      expect(stored.size).toBe(titles.length);
      for (const [at, { waits }] of sent.entries()) {
        if (titles[at] === 'a response that is late') continue;
        const title = titles[at] ?? '';
        const least = title.includes('as a date') && name !== 'send.sh' ? 2 : title.includes('in seconds') ? 3 : 0.5;
        expect({ title, waits }).toEqual({ title, waits: [expect.any(Number)] });
        expect({ title, isRight: (waits[0] ?? 0) >= least && (waits[0] ?? 0) <= Math.max(least + 2, 1) }).toEqual({
          title,
          isRight: true,
        });
      }
    });

    it('ends with a sentence when no repetition helps, and has sent nothing', async () => {
      const sent = await send(
        Object.fromEntries(Object.entries(FINAL).map(([title, fault]) => [title, { faults: [fault] }])),
      );
      for (const { id, error } of sent) {
        expect({ id, error }).toEqual({
          id: null,
          error: expect.stringMatching(/^Refused: [Ss]tatus \d{3}/) as string,
        });
      }
      expect(await messages()).toEqual(new Map());
    });

    it('sends any text as it is, and reports one that no message can have', async () => {
      const texts = { ...TEXTS, ...REFUSED_TEXTS, ...(name !== 'send.sh' && { 'half a character': HALF }) };
      const sent = await send(Object.fromEntries(Object.entries(texts).map(([title, text]) => [title, { text }])));
      const stored = await messages();
      const count = Object.keys(TEXTS).length;
      expect(sent.slice(0, count).map(({ id }) => stored.get(id ?? ''))).toEqual(Object.values(TEXTS));
      for (const { id, error } of sent.slice(count))
        expect({ id, error }).toEqual({ id: null, error: expect.stringContaining('validation_failed') as string });
      expect(stored.size).toBe(count);
    });
  });

  it.each(names)('%s ends when the outcome stays unknown', async (name) => {
    const url = proxy.with(
      ...Array<Fault>(9).fill((response) => void response.writeHead(502, { 'retry-after': '9'.repeat(30) }).end('<p>')),
    );
    const [sent] = (await senders[name]?.([{ url, text: 'x', key: 'order-4711' }])) ?? [];
    expect(sent?.error).toMatch(/The outcome of order-4711 is unknown\.$/m);
    // The shell takes so large a number for garbage, and waits after the last try as well.
    expect(sent?.waits).toHaveLength(name === 'send.sh' ? 9 : 8);
    expect(Math.max(...(sent?.waits ?? []))).toBe(name === 'send.sh' ? 60 : 86_400);
  });

  describe('consumers', () => {
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
      const input = { errors: ERRORS, url: proxy.with(...faults.map(faultOf)), count: good.length + ERRORS.length + 1 };
      await runJson('node', ['--input-type=module', '-e', CONSUME_MJS], input);
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
    ])('consume.mjs reports a batch again: %s', async (title) => {
      await api.sendBatch(account, { messages: ['one', '1'] });
      const fault = faultOf(title);
      const pass: Fault = async (response, forward) => {
        const { status, headers, body } = await forward();
        response.writeHead(status, headers).end(body);
      };
      // The lease, the acknowledgement twice, and the rejection.
      const input = { url: proxy.with(pass, fault, fault, pass, fault), errors: ['1'], count: 2 };
      await runJson('node', ['--input-type=module', '-e', CONSUME_MJS], input);
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
      const consumer = start('bash', ['consume.sh', ...command], { SLUICE: proxy.with(...faults) });
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
  });
});
