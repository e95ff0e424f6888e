import { createHmac, randomBytes } from 'node:crypto';

/*
 * Signatures of Standard Webhooks 1.0.0.
 */

const PREFIX = 'whsec_';
/** The specification asks for 24 to 64. */
const SECRET_BYTES = 32;

export function newSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** A secret as its account sees it. */
export function formatSecret(secret: Buffer): string {
  return PREFIX + secret.toString('base64');
}

/** The headers that a receiver needs to verify a body. */
export function signedHeaders(
  secrets: readonly Buffer[],
  id: string,
  at: Date,
  body: string,
): Readonly<Record<string, string>> {
  const timestamp = Math.floor(at.getTime() / 1_000);
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
    return `v1,${signature}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') };
}
