import type { ServiceResponse } from './service.js';

interface ResponseCheck {
  /** What the response states about the message; `limited` means refused for now. */
  readonly outcome: 'acknowledged' | 'refused' | 'limited' | 'unknown';
  /** What must not happen even under faults, as a sentence; null when the response is as guaranteed. */
  readonly error: string | null;
}

/**
 * Checks a response to `POST /messages`.
 * @param invalid whether the message had to be refused
 * @param repeated whether it had been acknowledged before
 */
export function checkResponse(
  response: ServiceResponse,
  { invalid, repeated }: { invalid: boolean; repeated: boolean },
): ResponseCheck {
  const { status, body, isProblem, isOfProxy, retryAfterMs, replayed } = response;
  if (isOfProxy) return { outcome: 'unknown', error: null };
  const code = String(body?.code);
  const received = `A response was ${status}${body === null ? ' without JSON' : isProblem ? ` ${code}` : ''}`;
  const unless = (expected: boolean, error: string) => (expected ? null : `${received}${error}.`);
  switch (status) {
    case 202:
      if (typeof body?.id !== 'string') return { outcome: 'unknown', error: `${received} and no id.` };
      if (invalid) return { outcome: 'acknowledged', error: `${received}, but the message is invalid.` };
      return { outcome: 'acknowledged', error: unless(!repeated || replayed, ', but not replayed for a repetition') };
    case 400:
      return { outcome: 'refused', error: unless(invalid && isProblem, '') };
    case 409:
      // The first attempt is still in progress after its connection was lost.
      if (code === 'idempotency_key_in_use') return { outcome: 'unknown', error: null };
      return { outcome: 'refused', error: unless(false, '') };
    case 429:
      return { outcome: 'limited', error: unless(isProblem && retryAfterMs !== null, ' without Retry-After') };
    case 503:
      return { outcome: 'unknown', error: unless(isProblem && retryAfterMs !== null, ' without Retry-After') };
    default:
      return {
        outcome: (status >= 400 && status < 500) || code === 'storage_full' ? 'refused' : 'unknown',
        error: unless(false, ''),
      };
  }
}
