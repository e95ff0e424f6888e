import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { faultOf, Programs, TEXTS } from '../docs/programs.js';
import { ForwardProxy } from '../support/forward-proxy.js';
import { COMPRESSED, ENDLESS, FINAL, FLOODS, HARMLESS, PASSING, type Fault } from '../support/hostile-proxy.js';
import { Receiver } from '../support/receiver.js';
import { describeUnless } from '../support/skipping.js';

interface Sent {
  readonly id: string | null;
  readonly error: string | null;
}

interface KeptClient {
  readonly language: string;
  /** A command that succeeds if the language is there. */
  readonly needs: readonly [string, ...string[]];
  readonly prepare?: (folder: string) => void;
  readonly command: (folder: string) => readonly [string, readonly string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Whether a message that a handler neither acknowledges nor rejects is rejected: otherwise there is no such thing. */
  readonly canForget: boolean;
  /** Whether a consumer handles several messages at a time. */
  readonly isConcurrent: boolean;
  /** Whether a text can have bytes that are not UTF-8. */
  readonly hasBytes: boolean;
}

/** What a client does that is kept by hand, tried by its program in test/clients/programs/. */
export function describeClient({ language, needs, prepare, command, env, ...has }: KeptClient): void {
  const [tool, ...args] = needs;
  const isMissing = spawnSync(tool, args).status !== 0;
  const reason = isMissing ? `The ${language} client: ${tool} is not installed, or too old.` : null;
  describeUnless(reason)(`The ${language} client`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-kept-'));
    const programs = new Programs();
    const { api, account } = programs;
    beforeAll(() => prepare?.(folder), 300_000);
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    const does = async <T>(task: object, more: Readonly<Record<string, string>> = {}): Promise<T> => {
      const [program, args] = command(folder);
      const { code, output } = await programs.start(program, args, { ...env, ...more }, JSON.stringify(task)).ended();
      if (code !== 0) throw new Error(`It ended with ${String(code)}:\n${output.join('\n')}`);
      return JSON.parse(output[0]) as T;
    };
    const send = (cases: readonly object[]) => does<Sent[]>({ do: 'send', cases });
    const stored = async () => {
      const rows = await api.sql<{ id: string; text: string; status: string; attempts: number }>(
        'SELECT id, text, status, attempts FROM sluice.messages WHERE account_id = $1 ORDER BY id',
        [account.id],
      );
      return new Map(rows.map((row) => [row.id, row]));
    };
    const pull = () => api.ask(account, 'PATCH /account', { delivery: 'pull' });

    it('sends each message once, for any fault of the first request, without a key of the caller', async () => {
      const titles = Object.keys({ ...PASSING, ...HARMLESS });
      const sent = await send(titles.map((text) => ({ text, url: programs.proxy.with(faultOf(text)) })));
      const messages = await stored();
      expect(sent.map(({ id, error }) => messages.get(id ?? '')?.text ?? error)).toEqual(titles);
      expect(messages.size).toBe(titles.length);
    });

    it('ends with an error when no repetition helps, and has sent nothing', async () => {
      const sent = await send(Object.values(FINAL).map((fault) => ({ text: 'x', url: programs.proxy.with(fault) })));
      expect(sent).toEqual(Object.keys(FINAL).map(() => ({ id: null, error: 'unexpected_response' })));
      expect((await stored()).size).toBe(0);
    });

    it('ends tries that have no end', async () => {
      const titles = Object.keys(ENDLESS);
      const sent = await send(
        Object.entries(ENDLESS).map(([text, fault]) => ({ text, url: programs.proxy.with(fault), timeout: 2 })),
      );
      const messages = await stored();
      expect(sent.map(({ id, error }) => messages.get(id ?? '')?.text ?? error)).toEqual(titles);
    });

    it('reads no more of a response without end than Sluice would send', async () => {
      for (const [text, fault] of Object.entries(FLOODS)) {
        const [sent, failed] = await send([
          { text, url: programs.proxy.with(fault), timeout: 10 },
          { text, url: programs.proxy.with(...Array<Fault>(9).fill(fault)), tries: 2, timeout: 10 },
        ]);
        expect((await stored()).get(sent?.id ?? '')?.text ?? sent?.error).toBe(text);
        // A client that does not decompress this gets few bytes.
        if (failed?.error === 'timed_out' && text.includes('deflate')) continue;
        expect(failed?.error).toBe('unexpected_response');
      }
    });

    it('reads a compressed response, asked or not', async () => {
      const [sent] = await send([{ text: 'x', url: programs.proxy.with(...Array<Fault>(9).fill(COMPRESSED)) }]);
      expect(sent?.error).toBeNull();
    });

    it('sends any text as it is', async () => {
      const sent = await send(
        Object.values(TEXTS).map((text, at) => ({ text, url: programs.proxy.with(), key: `k${at}` })),
      );
      const messages = await stored();
      expect(sent.map(({ id, error }) => messages.get(id ?? '')?.text ?? error)).toEqual(Object.values(TEXTS));
    });

    it('sends twice with a key of the caller what is one message, and refuses a key that is none', async () => {
      const url = programs.proxy.with();
      const paid = { text: 'paid', url, key: 'order-4711' };
      const [first, second, other] = await send([paid, paid, { text: 'paid', url, key: 'a b' }]);
      expect(second?.id).toBe(first?.id);
      expect(other).toEqual({ id: null, error: expect.stringMatching(/idempotency.key must be/) as string });
      expect((await stored()).size).toBe(1);
    });

    it('sends a batch, lists, leases, acknowledges, rejects, cancels', async () => {
      await pull();
      expect(await does({ do: 'use', url: programs.proxy.with() })).toEqual({
        sent: ['queued', 'queued'],
        leased: [
          ['one', 'order.paid', null],
          ['two', null, { region: 'eu' }],
        ],
        results: ['acknowledged'],
        late: 'lease_lost',
        cancelled: 'cancelled',
        listed: ['three', 'two', 'one'],
        delivered: ['one'],
        attempts: ['retried', 'delivered'],
        got: 'delivered',
        remaining: true,
        unknown: 'message_not_found',
        key: 'unauthorized',
      });
    });

    it('does not repeat what could be done twice', async () => {
      await pull();
      const { id } = await api.sent(account);
      const url = programs.proxy.with(faultOf('a response that is lost'));
      expect(await does({ do: 'cancel', url, id })).toBe('connection_failed');
      expect((await stored()).get(id)?.status).toBe('cancelled');
    });

    it('rejects, whatever the reason says', async () => {
      await pull();
      const reasons = ['Not now', '', 'a\0b', '\0', '\ud83d', 'x\udc00', '😀'.repeat(600), 'x'.repeat(999) + '😀'];
      await api.sendBatch(account, { messages: reasons.map((_, at) => String(at)) });
      const codes = await does<(string | null)[]>({ do: 'reject', url: programs.proxy.with(), reasons });
      expect(codes).toEqual(reasons.map(() => null));
      const rows = await api.sql<{ error: string }>(
        `SELECT failure_reason AS error FROM sluice.messages WHERE account_id = $1 AND status = 'queued' ORDER BY id`,
        [account.id],
      );
      expect([rows.length, rows[0]?.error, rows[6]?.error]).toEqual([8, 'Not now', '😀'.repeat(500)]);
    });

    it('consumes, extends leases, and gets again what was rejected', async () => {
      await pull();
      const texts = ['good', 'slow', 'failing', ...(has.canForget ? ['forgotten'] : [])];
      const again = ['failing', ...(has.canForget ? ['forgotten'] : [])];
      await api.sendBatch(account, { messages: texts });
      const named = { slow: ['slow'], failing: ['failing'], forgotten: ['forgotten'] };
      const task = { do: 'consume', lease: 2, count: texts.length + again.length, url: programs.proxy.with() };
      const handled = await does<[string, number][]>({ ...task, ...named });
      expect(handled.map(([text]) => text).sort()).toEqual([...texts, ...again].sort());
      expect(handled.filter(([text]) => text === 'slow')).toEqual([['slow', 1]]);
      expect([...(await stored()).values()].map(({ status }) => status)).toEqual(texts.map(() => 'delivered'));
    });

    it('consumes through faults', async () => {
      await pull();
      const texts = ['one', 'two', 'three'];
      await api.sendBatch(account, { messages: texts });
      const faults = ['a response that is lost', 'an empty 503', 'a response that is cut', 'no response'].map(faultOf);
      const task = { do: 'consume', lease: 2, slow: [], failing: [], forgotten: [], count: texts.length };
      const handled = await does<[string, number][]>({ ...task, url: programs.proxy.with(...faults) });
      expect(handled.map(([text]) => text).sort()).toEqual([...texts].sort());
      expect([...(await stored()).values()].map(({ status }) => status)).toEqual(texts.map(() => 'delivered'));
    });

    if (has.canForget) {
      const AGAIN = ['a,1', 'a,2', 'b,1'];
      it.each([
        ['a rejection of what is acknowledged', ['a,1', 'b,1'], { late: ['a'] }],
        ['an acknowledgement and a rejection that cannot be sent while the lease lasts', AGAIN, { away: ['a'] }],
        ['a rejection by the loop that cannot be sent while the lease lasts', AGAIN, { away: ['a'], forgotten: ['a'] }],
      ])('goes on after %s', async (_what, expected, named) => {
        await pull();
        await api.sendBatch(account, { messages: ['a', 'b'] });
        const task = {
          do: 'consume',
          lease: 2,
          slow: [],
          failing: [],
          forgotten: [],
          count: expected.length,
          ...named,
        };
        const handled = await does<[string, number][]>({ ...task, url: programs.proxy.with() });
        expect(handled.map(String).sort()).toEqual(expected);
        expect([...(await stored()).values()].map(({ status }) => status)).toEqual(['delivered', 'delivered']);
      });
    }

    if (has.isConcurrent) {
      it('consumes several at a time, and only the first lease ends it', async () => {
        await pull();
        const texts = ['one', 'two', 'three', 'four'];
        await api.sendBatch(account, { messages: texts });
        const faults = ['a response that is late', ...Array<string>(3).fill('an empty 503')].map(faultOf);
        const task = { do: 'consume', lease: 2, count: texts.length, concurrency: 4, tries: 1 };
        const handled = await does<[string, number][]>({ ...task, url: programs.proxy.with(...faults) });
        expect(handled.map(([text]) => text).sort()).toEqual([...texts].sort());
        const failed = { ...task, url: programs.proxy.with(faultOf('an empty 503')) };
        await expect(does(failed)).rejects.toThrow('the response has the status 503');
        await expect(does({ ...failed, concurrency: -1 })).rejects.toThrow('Concurrency must not be negative');
      });
    }

    if (has.hasBytes) {
      it('sends no text that is not UTF-8, and U+FFFD as it is', async () => {
        const url = programs.proxy.with();
        const wrong = ['caf\xe9', '\xff', '\\\xff', '\xc0\x80', '\xed\xa0\x80', 'x\\\\\xe9"'];
        const right = ['\ufffd', '\\ufffd', '\\\\ufffd', 'café', ' \\'];
        const sent = await send([
          ...wrong.map((text) => ({ url, bytes: Buffer.from(text, 'latin1').toString('base64') })),
          ...right.map((text) => ({ url, bytes: Buffer.from(text).toString('base64') })),
        ]);
        const messages = await stored();
        expect(sent.map(({ id, error }) => messages.get(id ?? '')?.text ?? error)).toEqual([
          ...wrong.map(() => expect.stringContaining('not valid UTF-8') as string),
          ...right,
        ]);
      });
    }

    it('sends by the proxy of the environment', async () => {
      const proxy = new ForwardProxy(api.url);
      const env = { HTTP_PROXY: await proxy.start(), NO_PROXY: '127.0.0.1' };
      try {
        const cases = ['http://sluice.invalid', 'http://127.0.0.1:2'].map((url) => ({ text: 'hello', url, tries: 1 }));
        const [sent, direct] = await does<Sent[]>({ do: 'send', cases }, env);
        expect((await stored()).get(sent?.id ?? '')?.text).toBe('hello');
        expect(direct).toEqual({ id: null, error: 'connection_failed' });
        expect(proxy.asked).toEqual(['http://sluice.invalid/messages']);
      } finally {
        proxy.stop();
      }
    });

    it('verifies the signature of a webhook', async () => {
      const secret = `whsec_${Buffer.from('a secret of 24 bytes ….').toString('base64')}`;
      const other = `whsec_${Buffer.from('another secret, 24 bytes').toString('base64')}`;
      const body = JSON.stringify({
        ...{ type: 'message', timestamp: '2026-11-21T09:30:00.123Z' },
        data: { id: 'msg_1', message: 'Schöne Grüße', createdAt: '2026-11-21T09:30:00.123Z' },
      });
      const signed = (with_: string, agoSeconds = 0) => {
        const at = new Date(Date.now() - agoSeconds * 1_000);
        return {
          'Webhook-Id': 'msg_1',
          'Webhook-Timestamp': String(Math.floor(at.getTime() / 1_000)),
          'Webhook-Signature': new Webhook(with_).sign('msg_1', at, body),
        };
      };
      const good = signed(secret);
      const both = `${signed(other)['Webhook-Signature']} v1a,x ${good['Webhook-Signature']}`;
      const refused = 'WebhookVerificationError';
      const cases: [object, string][] = [
        [{ headers: good }, 'Schöne Grüße'],
        [{ headers: { ...good, 'Webhook-Signature': both } }, 'Schöne Grüße'],
        [{ headers: signed(secret, 290) }, 'Schöne Grüße'],
        [{ headers: signed(secret, 310) }, refused],
        [{ headers: signed(secret, -310) }, refused],
        [{ headers: signed(other) }, refused],
        [{ headers: good, body: body.replace('msg_1', 'msg_2') }, refused],
        [{ headers: { ...good, 'Webhook-Id': 'msg_2' } }, refused],
        [{ headers: { ...good, 'Webhook-Timestamp': `${good['Webhook-Timestamp']}x` } }, refused],
        [{ headers: { ...good, 'Webhook-Timestamp': '9'.repeat(400) } }, refused],
        [{ headers: { ...good, 'Webhook-Timestamp': '9'.repeat(5_000) } }, refused],
        [{ headers: { ...good, 'Webhook-Timestamp': '٣' } }, refused],
        [{ headers: { ...good, 'Webhook-Timestamp': 'NaN' } }, refused],
        [{ headers: { ...good, 'Webhook-Id': 'msg_\udcff' } }, refused],
        [{ headers: { ...good, 'Webhook-Signature': '' } }, refused],
        [{ headers: { ...good, 'Webhook-Signature': 'v1,' } }, refused],
        [{ headers: { ...good, 'Webhook-Signature': 'v1,@@' } }, refused],
        [{ headers: {} }, refused],
        [{ headers: good, secret: 'whsec_' }, 'ValueError'],
        [{ headers: good, secret: 'whsec_@' }, 'ValueError'],
        [{ headers: good, secret: null }, 'ValueError'],
      ];
      const results = await does({ do: 'verify', cases: cases.map(([one]) => ({ body, secret, ...one })) });
      expect(results).toEqual(cases.map(([, result]) => result));
    });

    it.each([['c'], [5], [true], [{}]])('reads no list for ever whose cursor is always %j', async (nextCursor) => {
      const cache = await Receiver.start();
      const page = JSON.stringify({ data: [{ id: 'msg_1' }], nextCursor });
      for (const query of ['limit=100', 'limit=100&cursor=c', 'cursor=c&limit=100'])
        cache.url(`/messages?${query}`, (response) => response.end(page));
      expect(await does({ do: 'list', url: cache.origin })).toBe('unexpected_response');
      expect(cache.received.length).toBeLessThanOrEqual(6);
      cache.stop();
    });

    it('names what is missing or wrong when it is made', async () => {
      const url = 'http://127.0.0.1';
      const wrong: [string, string, RegExp][] = [
        ['', url, /api_?key must be an API key/i],
        ['a b', url, /api_?key must/i],
        ['slc_x', '', /base_?url is missing/i],
        ...[
          ...['127.0.0.1:3000', 'ftp://a', 'http://', 'http:///a', 'http://[::1', 'http://a b', 'http://a\nb', '/'],
          ...['http://a:x', 'http://a:65536', 'http://a:0', 'http://a:-1', 'http://user@a', 'http://user:secret@a'],
          ...['http://a?b', 'http://a?', 'http://a#b', 'http://a#', 'http://a/b#c', 'mailto:a@b'],
        ].map((one): [string, string, RegExp] => ['slc_x', one, /base_?url must be/i]),
      ];
      const right = [url, `${url}:65535`, `${url}/`, `${url}/base//`, 'https://a.example/b@c', 'http://[::1]:3000'];
      const made = [...wrong.map(([key, one]) => [key, one]), ...right.map((one) => ['slc_x', one])];
      const errors = await does<Record<string, string>>({ do: 'missing', made });
      for (const [key, one, sentence] of wrong)
        expect([one, errors[`${key} ${one}`]]).toEqual([one, expect.stringMatching(sentence)]);
      expect(Object.keys(errors)).toHaveLength(wrong.length);
      expect(JSON.stringify(Object.values(errors))).not.toContain('secret');
    });
  });
}
