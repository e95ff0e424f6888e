import { contentJson, isReserved, type ContentValues } from '#messages/index.js';
import type { Target } from '../endpoints/endpoints.js';
import { openHeaders } from '../endpoints/sealed-headers.js';
import type { SecretBox } from '../endpoints/secret-box.js';
import { signedHeaders } from './signatures.js';
import type { WebhookRequest } from './webhook-client.js';

/** What an endpoint gets. */
interface Webhook {
  /** The type of the message, or what stands for it. */
  readonly type: string;
  readonly id: string;
  readonly content: ContentValues;
  readonly createdAt: Date;
  /** Of the message; null when it is in no trace. */
  readonly traceparent: string | null;
}

/** A request to an endpoint, signed with the secrets that it has at this time, the newest first. */
export function webhookRequest(
  box: SecretBox,
  { endpoint, secrets, headers }: Target,
  webhook: Webhook,
  at: Date,
): WebhookRequest {
  const { type, id, content, createdAt, traceparent } = webhook;
  // The text of an operational event is its data.
  const data = isReserved(type) ? content.text : JSON.stringify({ id, ...contentJson(content), createdAt });
  const body = `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(createdAt)},"data":${data}}`;
  const current = secrets
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
    .map(({ sealed }) => box.open(sealed, endpoint.id));
  const own = {
    'content-type': 'application/json',
    ...(traceparent !== null && { traceparent }),
    ...signedHeaders(current, id, at, body),
  };
  return { url: endpoint.url, headers: { ...openHeaders(box, headers, endpoint.id), ...own }, body };
}
