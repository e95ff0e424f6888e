import { ValidationError } from '#kernel/domain-error.js';
import { header } from '#platform/http/openapi/operation.js';

export const IDEMPOTENCY_KEY = {
  type: 'string',
  pattern: '^[!-~]{1,255}$',
  description:
    'Makes the request safe to repeat for 24 hours: a request with the same key and body gets the original response and ' +
    'creates nothing. A key is not used up by a request that failed.',
  examples: ['order-4711-paid'],
} as const;

export const IDEMPOTENT_REPLAYED = header(
  'Present if this is the response to an earlier request with the same `Idempotency-Key`.',
  { type: 'string', const: 'true' },
  false,
);

export const TRACEPARENT = {
  type: 'string',
  description: 'The trace that the request belongs to (W3C Trace Context). It is passed on to message handlers.',
  examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
};

export const LOCATION = header('The path of the message.', {
  type: 'string',
  format: 'uri-reference',
  examples: ['/messages/msg_01h455vb4pex5vsknk084sn02q'],
});

const HEADER_VALUE = new RegExp(IDEMPOTENCY_KEY.pattern);

export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (HEADER_VALUE.test(header)) return header;
  throw new ValidationError([
    { pointer: '', detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces.' },
  ]);
}
