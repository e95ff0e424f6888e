import type { WebhookPayload } from './types.js';

/** Why a request must not be trusted: answer it with the status 401. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}

export interface VerifyOptions {
  /** How old the signature may be, and how far in the future: 300 by default. */
  readonly toleranceSeconds?: number | undefined;
}

export type WebhookHeaders =
  | Iterable<readonly [string, string | readonly string[]]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a request of a webhook as Standard Webhooks 1.0.0 describes, and returns its payload.
 * @param body as it arrived, before it is parsed
 * @param secret of the endpoint: `whsec_…`
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string,
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<WebhookPayload> {
  const given = new Headers();
  for (const [name, value] of Symbol.iterator in headers ? headers : Object.entries(headers)) {
    if (/^webhook-/i.test(name)) given.set(name, [value].flat().join(' '));
  }
  const id = given.get('webhook-id') ?? '';
  const timestamp = given.get('webhook-timestamp') ?? '';
  const signatures = given.get('webhook-signature') ?? '';
  if (id === '' || signatures === '' || !/^\d+$/.test(timestamp))
    throw refused('The headers of the signature are missing');
  // The other way round, NaN would accept all.
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= toleranceSeconds))
    throw refused('The signature is too old or too new');

  const content = bytesIn(body);
  const signed = concatenated(new TextEncoder().encode(`${id}.${timestamp}.`), content);
  const key = await crypto.subtle.importKey('raw', keyOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  for (const signature of signatures.split(' ')) {
    const bytes = signature.startsWith('v1,') ? bytesOf(signature.slice(3)) : null;
    // Compares in constant time.
    if (bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
      return JSON.parse(new TextDecoder().decode(content)) as WebhookPayload;
    }
  }
  throw refused('No signature is right');
}

function refused(why: string): WebhookVerificationError {
  return new WebhookVerificationError(`${why}.`);
}

/** Those of other windows, or of tests, are no instances of the classes here. */
function bytesIn(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  throw new TypeError('body must be the text or the bytes of the request, before it is parsed.');
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  // A setting that is missing is undefined, whatever its type says.
  const key = bytesOf((secret as string | null | undefined)?.replace(/^whsec_/, '') ?? '');
  // Without the secret in its message.
  if (key === null || key.length === 0) throw new TypeError('secret must be the secret of an endpoint: whsec_….');
  return key;
}

/** The bytes that Base64 stands for; null if it isn't Base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
