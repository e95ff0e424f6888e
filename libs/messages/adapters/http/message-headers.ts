import { ValidationError } from '#kernel/domain-error.js';
import type { HeaderSpec } from '#platform/http/openapi/operation.js';

export const IDEMPOTENCY_KEY = {
  type: 'string',
  pattern: '^[!-~]{1,255}$',
  description:
    'Makes the request repeatable for 24 hours: the same key with the same body gets the first answer again and creates ' +
    'nothing. A request that was refused leaves its key free.',
  examples: ['order-4711-paid'],
} as const;

export const IDEMPOTENT_REPLAYED: HeaderSpec = {
  description: 'Says that this is the answer to an earlier request with the same `Idempotency-Key`.',
  schema: { type: 'string', const: 'true' },
  required: false,
};

export const TRACEPARENT = {
  type: 'string',
  description: 'The trace to which the request belongs (W3C Trace Context). It is carried on to whoever delivers.',
  examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
};

export const LOCATION: HeaderSpec = {
  description: 'Where to ask how its delivery goes.',
  schema: { type: 'string', format: 'uri-reference', examples: ['/messages/msg_01h455vb4pex5vsknk084sn02q'] },
  required: true,
};

const HEADER_VALUE = new RegExp(IDEMPOTENCY_KEY.pattern);

export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (HEADER_VALUE.test(header)) return header;
  throw new ValidationError([
    { pointer: '', detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters, without blanks.' },
  ]);
}
