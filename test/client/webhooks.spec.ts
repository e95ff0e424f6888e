import { Webhook } from 'standardwebhooks';
import { Headers as UndiciHeaders } from 'undici';
import { verifyWebhook, WebhookVerificationError } from '#client/index.js';

const SECRET = `whsec_${Buffer.from('a secret of 24 bytes ….').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another secret of bytes').toString('base64')}`;
const BODY = JSON.stringify({
  type: 'message',
  timestamp: '2026-11-21T09:30:00.123Z',
  data: { id: 'msg_1', message: 'Schöne Grüße 👋', createdAt: '2026-11-21T09:30:00.123Z' },
});

function signed(secret = SECRET, at = new Date(), body = BODY): Record<string, string> {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  };
}

/** The bytes of a text but for its last character, which is no UTF-8: they are decoded as U+FFFD. */
const UNREADABLE = Buffer.concat([Buffer.from(`${BODY} `), Buffer.from([0xff])]);

const signature = (headers: Record<string, string>) => headers['webhook-signature'] ?? '';
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);

describe('verifyWebhook', () => {
  it.each<[string, Parameters<typeof verifyWebhook>]>([
    ['text', [signed(), BODY, SECRET]],
    ['bytes', [signed(), Buffer.from(BODY), SECRET]],
    ['an ArrayBuffer', [signed(), new Uint8Array(Buffer.from(BODY)).buffer, SECRET]],
    ['a part of a buffer', [signed(), Buffer.from(`[${BODY}]`).subarray(1, -1), SECRET]],
    ['Headers', [new Headers(signed()), BODY, SECRET]],
    ['Headers of undici', [new UndiciHeaders(signed()), BODY, SECRET]],
    ['a Map', [new Map(Object.entries(signed())), BODY, SECRET]],
    ['entries', [Object.entries(signed()), BODY, SECRET]],
    ['several headers', [{ ...signed(), 'webhook-signature': [signature(signed()), 'v1,AAAA'] }, BODY, SECRET]],
    ['no limit of age', [signed(SECRET, new Date(1_000)), BODY, SECRET, { toleranceSeconds: Infinity }]],
    [
      'headers of Node.js',
      [{ ...signed(), accept: '*/*', 'set-cookie': ['a', 'b'], missing: undefined }, BODY, SECRET],
    ],
    [
      'names in capitals',
      [Object.fromEntries(Object.entries(signed()).map(([n, v]) => [n.toUpperCase(), v])), BODY, SECRET],
    ],
    ['a secret without its prefix', [signed(), BODY, SECRET.replace('whsec_', '')]],
    ['a timestamp within the tolerance', [signed(SECRET, ago(290)), BODY, SECRET]],
    ['another tolerance', [signed(SECRET, ago(3_000)), BODY, SECRET, { toleranceSeconds: 3_600 }]],
    [
      'several signatures, of which one is right',
      [
        { ...signed(), 'webhook-signature': `v1a,abc v1,%% ${signature(signed(OTHER))} ${signature(signed())}` },
        BODY,
        SECRET,
      ],
    ],
  ])('accepts what the public library has signed: %s', async (_, args) => {
    expect(await verifyWebhook(...args)).toEqual(JSON.parse(BODY));
  });

  it.each<[string, Parameters<typeof verifyWebhook>]>([
    ['another secret', [signed(OTHER), BODY, SECRET]],
    ['another body', [signed(), BODY.replace('msg_1', 'msg_2'), SECRET]],
    [
      'other bytes that are decoded to the same text',
      [signed(SECRET, new Date(), `${BODY} \ufffd`), UNREADABLE, SECRET],
    ],
    ['another id', [{ ...signed(), 'webhook-id': 'msg_2' }, BODY, SECRET]],
    [
      'another timestamp',
      [{ ...signed(), 'webhook-timestamp': signed(SECRET, ago(1))['webhook-timestamp'] }, BODY, SECRET],
    ],
    ['an old timestamp', [signed(SECRET, ago(310)), BODY, SECRET]],
    ['a timestamp in the future', [signed(SECRET, ago(-310)), BODY, SECRET]],
    ['a tolerance that is no number', [signed(), BODY, SECRET, { toleranceSeconds: Number('5m') }]],
    ['no timestamp', [{ ...signed(), 'webhook-timestamp': 'now' }, BODY, SECRET]],
    ['no signature', [{ ...signed(), 'webhook-signature': '' }, BODY, SECRET]],
    [
      'a signature of another version',
      [{ ...signed(), 'webhook-signature': signature(signed()).replace('v1', 'v2') }, BODY, SECRET],
    ],
    [
      'the start of the signature',
      [{ ...signed(), 'webhook-signature': signature(signed()).slice(0, 20) }, BODY, SECRET],
    ],
    ['no headers', [{}, BODY, SECRET]],
  ])('refuses %s', async (_, args) => {
    await expect(verifyWebhook(...args)).rejects.toThrow(WebhookVerificationError);
  });

  it.each(['', 'whsec_', 'whsec_not-base64!', undefined as never, null as never])(
    'does not accept the secret %j, nor show it',
    async (secret) => {
      const failure: unknown = await verifyWebhook(signed(), BODY, secret).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(TypeError);
      expect(String(failure)).toBe('TypeError: secret must be the secret of an endpoint: whsec_….');
    },
  );

  it.each<[string, unknown]>([
    ['was parsed', JSON.parse(BODY)],
    ['is missing', undefined],
    ['was read as a stream', new Blob([BODY]).stream()],
  ])('does not accept a body that %s', async (_, body) => {
    await expect(verifyWebhook(signed(), body as string, SECRET)).rejects.toThrow(
      /^body must be the text or the bytes/,
    );
  });
});
