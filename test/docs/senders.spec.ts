import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { ENDLESS, FINAL, HARMLESS, PASSING, type Fault } from '../support/hostile-proxy.js';
import { Programs, TEXTS } from './programs.js';

const REFUSED_TEXTS = { 'an empty one': '', NUL: 'a\0b', '262,145 bytes': 'x'.repeat(262_145) };
/** Only what has texts of UTF-16 can try to send this. */
const HALF = 'a\ud83d';

/** What a sender did: the id that it returned, or its refusal; and how long it would have waited, in seconds. */
interface Sent {
  readonly id: string | null;
  readonly error: string;
  readonly waits: readonly number[];
}

interface Sending {
  readonly url: string;
  readonly text: string;
  readonly key: string;
  /** Seconds that a response may take. */
  readonly limit: number;
}

/** Sends each without its waits, in one process. */
const SEND_MJS = `
  import { send } from './send.mjs';
  const cases = JSON.parse(fs.readFileSync(0));
  const results = [];
  const { setTimeout } = globalThis;
  let waits = [];
  const { timeout } = AbortSignal;
  // Others than the program set timers as well.
  globalThis.setTimeout = (resolve, ms, ...args) => {
    if (!new Error().stack.includes('/send.mjs')) return setTimeout(resolve, ms, ...args);
    waits.push(ms / 1000);
    return setImmediate(resolve);
  };
  for (const { url, text, key, limit } of cases) {
    waits = [];
    AbortSignal.timeout = () => timeout(1_000 * limit);
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
    send.TIME_LIMIT = case["limit"]
    try:
        results.append({"id": send.send(case["url"], os.environ["KEY"], case["text"], case["key"])["id"], "error": "", "waits": waits})
    except (send.Refused, RuntimeError) as error:
        results.append({"id": None, "error": type(error).__name__ + ": " + str(error), "waits": waits})
print(json.dumps(results))`;

describe('The senders of the documentation', () => {
  const programs = new Programs();
  const { api, account } = programs;

  const senders: Readonly<Record<string, (sendings: readonly Sending[]) => Promise<Sent[]>>> = {
    'send.mjs': (sendings) => programs.runJson('node', ['--input-type=module', '-e', SEND_MJS], sendings),
    'send.py': (sendings) => programs.runJson('python3', ['-c', SEND_PY], sendings),
    'send.sh': (sendings) =>
      Promise.all(
        sendings.map(async ({ url, text, key }) => {
          const { code, output } = await programs.start('bash', ['send.sh', key], { SLUICE: url }, text).ended();
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
          ...{ url: programs.proxy.with(...faults), text, key: `key-${at}`, limit: 30 },
        })),
      ) ?? Promise.reject(new Error(`There is no ${name}.`));

    it('sends each message once, for any fault of the first request', async () => {
      const faults = { ...PASSING, ...HARMLESS };
      const sent = await send(
        Object.fromEntries(Object.entries(faults).map(([title, fault]) => [title, { faults: [fault] }])),
      );
      const stored = await messages();
      const titles = Object.keys(faults);
      expect(sent.map(({ id }) => stored.get(id ?? ''))).toEqual(titles);
      expect(stored.size).toBe(titles.length);
      for (const [at, { waits }] of sent.entries()) {
        const title = titles[at] ?? '';
        if (title in HARMLESS) {
          expect({ title, waits }).toEqual({ title, waits: [] });
          continue;
        }
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

  // The shell leaves it to curl.
  it.each(names.filter((name) => name !== 'send.sh'))('%s ends responses that have no end', async (name) => {
    const sendings = Object.entries(ENDLESS).map(([title, fault]) => {
      return { url: programs.proxy.with(fault), text: title, key: title.replaceAll(' ', '-'), limit: 2 };
    });
    const sent = await senders[name]?.(sendings);
    const stored = await messages();
    expect(sent?.map(({ id }) => stored.get(id ?? ''))).toEqual(Object.keys(ENDLESS));
  });

  it.each(names)('%s reads a compressed response, asked or not', async (name) => {
    const compressed: Fault = async (response, forward) => {
      const { status, body } = await forward();
      response
        .writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync(body));
    };
    const sending = { url: programs.proxy.with(compressed), text: 'x', key: 'order-4711', limit: 30 };
    expect(await senders[name]?.([sending])).toMatchObject([
      { id: expect.stringMatching(/^msg_/) as string, waits: [] },
    ]);
  });

  it.each(names)('%s ends when the outcome stays unknown', async (name) => {
    const url = programs.proxy.with(
      ...Array<Fault>(9).fill((response) => void response.writeHead(502, { 'retry-after': '9'.repeat(30) }).end('<p>')),
    );
    const [sent] = (await senders[name]?.([{ url, text: 'x', key: 'order-4711', limit: 30 }])) ?? [];
    expect(sent?.error).toMatch(/The outcome of order-4711 is unknown\.$/m);
    // The shell takes so large a number for garbage, and waits after the last try as well.
    expect(sent?.waits).toHaveLength(name === 'send.sh' ? 9 : 8);
    expect(Math.max(...(sent?.waits ?? []))).toBe(name === 'send.sh' ? 60 : 86_400);
  });
});
