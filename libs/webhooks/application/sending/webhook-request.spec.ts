import { contentOfJson } from '#messages/index.js';
import { anEndpoint } from '../../../../test/support/endpoints.js';
import { sealHeaders } from '../endpoints/sealed-headers.js';
import { SecretBox } from '../endpoints/secret-box.js';
import { signedHeaders } from './signatures.js';
import { webhookRequest } from './webhook-request.js';

const AT = new Date('2026-11-21T09:30:00Z');
const after = (ms: number) => new Date(AT.getTime() + ms);
const endpoint = anEndpoint();
const webhook = {
  type: 'message',
  id: 'msg_1',
  content: contentOfJson({ message: 'hello' }),
  createdAt: AT,
  traceparent: null,
} as const;
const [CURRENT, OLD, OLDER] = [1, 2, 3].map((byte) => Buffer.alloc(24, byte)) as [Buffer, Buffer, Buffer];

describe('webhookRequest', () => {
  const box = new SecretBox([Buffer.alloc(32)]);
  const stored = (secret: Buffer, expiresAt: Date | null) => ({ sealed: box.seal(secret, endpoint.id), expiresAt });

  it.each([
    ['the only one', [[CURRENT, null]], [CURRENT]],
    [
      'a rotated one until it expires, after the current one',
      [
        [CURRENT, null],
        [OLD, after(1)],
      ],
      [CURRENT, OLD],
    ],
    [
      'no rotated one from its expiry on',
      [
        [CURRENT, null],
        [OLD, after(0)],
      ],
      [CURRENT],
    ],
    [
      'no rotated one that has expired',
      [
        [CURRENT, null],
        [OLD, after(-60_000)],
      ],
      [CURRENT],
    ],
    [
      'only those of several that have not expired',
      [
        [CURRENT, null],
        [OLD, after(60_000)],
        [OLDER, after(-1)],
      ],
      [CURRENT, OLD],
    ],
  ] as const)('is signed with %s', (_what, secrets, signing) => {
    const sealed = secrets.map(([secret, expiresAt]) => stored(secret, expiresAt));
    const target = { endpoint, version: '1', secrets: sealed, headers: null };
    const { headers, body } = webhookRequest(box, target, webhook, AT);
    expect(headers).toEqual({ 'content-type': 'application/json', ...signedHeaders(signing, 'msg_1', AT, body) });
  });

  it('has the headers of its endpoint, which replace none of its own', () => {
    // What the API refuses, another version may have stored.
    const given = { 'X-Tenant': 'a', ['__proto__']: 'b', 'content-type': 'text/plain', 'webhook-id': 'another' };
    const headers = sealHeaders(box, given, endpoint.id);
    const request = webhookRequest(
      box,
      { endpoint, version: '1', secrets: [stored(CURRENT, null)], headers },
      webhook,
      AT,
    );
    expect(Object.entries(request.headers)).toEqual(
      Object.entries({
        ...given,
        'content-type': 'application/json',
        ...signedHeaders([CURRENT], 'msg_1', AT, request.body),
      }),
    );
  });

  it('is of the type of its message', () => {
    const target = { endpoint, version: '1', secrets: [stored(CURRENT, null)], headers: null };
    const content = contentOfJson({ message: 'hello', type: 'order.paid' });
    const { body } = webhookRequest(box, target, { ...webhook, type: 'order.paid', content }, AT);
    expect(JSON.parse(body)).toEqual({
      ...{ type: 'order.paid', timestamp: AT.toISOString() },
      data: { id: 'msg_1', message: 'hello', type: 'order.paid', createdAt: AT.toISOString() },
    });
  });
});
