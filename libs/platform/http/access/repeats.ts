import type { FastifyReply, FastifyRequest } from 'fastify';
import { ValidationError } from '#kernel/domain-error.js';
import { header } from '../openapi/operation.js';

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

/** The parts of `@Operation` for a route that `Repeats` makes safe to repeat. */
export const REPEATABLE = {
  headers: { 'Idempotency-Key': IDEMPOTENCY_KEY },
  responseHeaders: { 'Idempotent-Replayed': IDEMPOTENT_REPLAYED },
  errors: ['idempotency_key_in_use', 'idempotency_key_reused'],
} as const;

const HEADER_VALUE = new RegExp(IDEMPOTENCY_KEY.pattern);

export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (HEADER_VALUE.test(header)) return header;
  throw new ValidationError([
    { pointer: '', detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces.' },
  ]);
}

/** A request whose response may have been lost, as its handler sees it. */
export interface Repeatable {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The body with its known fields; null if the route has none. */
  readonly body: object | null;
}

/**
 * Lets clients repeat requests that change something other than messages, when they have not received the response. A
 * request with an `Idempotency-Key` that succeeded with it in the last 24 hours, for the same account, gets the same
 * response, even if the data has changed since. Without the header, the work is simply run.
 *
 * Both methods throw DomainError `idempotency_key_reused` when the key was used for another request,
 * `idempotency_key_in_use` when the first one is still in progress, and `insufficient_scope` when the first caller had
 * scopes that the present caller lacks. Only successful responses are kept.
 */
export abstract class Repeats {
  /** Commits the response together with all that the work changes through `Repositories`: both or neither. */
  abstract atomically<T>(repeatable: Repeatable, work: () => Promise<T>): Promise<T>;

  /**
   * Keeps the response once the work is done, which may take long. Half a minute after a crash in between, a repetition
   * does the work again, so it must be harmless then.
   */
  abstract afterwards<T>(repeatable: Repeatable, work: () => Promise<T>): Promise<T>;
}
