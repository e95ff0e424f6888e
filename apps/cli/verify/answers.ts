import type { Answer } from './service.js';

export interface Inspected {
  /** What the answer says of the message; `limited` means refused for now. */
  readonly fate: 'acknowledged' | 'refused' | 'limited' | 'unknown';
  /** What no fault of the deployment excuses about it, as a sentence; null when it is as promised. */
  readonly fault: string | null;
}

/**
 * What an answer to `POST /messages` promises.
 * @param wrong whether the message had to be refused
 * @param again whether it had been acknowledged before
 */
export function inspectAnswer(answer: Answer, { wrong, again }: { wrong: boolean; again: boolean }): Inspected {
  const { status, body, isProblem, retryAfterMs, replayed } = answer;
  const code = String(body?.code);
  const told = `A request was answered ${status}${body === null ? ' without JSON' : isProblem ? ` ${code}` : ''}`;
  const unless = (kept: boolean, fault: string) => (kept ? null : `${told}${fault}.`);
  switch (status) {
    case 202:
      if (typeof body?.id !== 'string') return { fate: 'unknown', fault: `${told} and no id.` };
      if (wrong) return { fate: 'acknowledged', fault: `${told} though its message can't be stored.` };
      return { fate: 'acknowledged', fault: unless(!again || replayed, ' anew though it was a repetition') };
    case 400:
      return { fate: 'refused', fault: unless(wrong && isProblem, '') };
    case 409:
      // The first attempt is still under way, somewhere where its connection was lost.
      if (code === 'idempotency_key_in_use') return { fate: 'unknown', fault: null };
      return { fate: 'refused', fault: unless(false, '') };
    case 429:
      return { fate: 'limited', fault: unless(isProblem && retryAfterMs !== null, ' without Retry-After') };
    case 503:
      return { fate: 'unknown', fault: unless(isProblem && retryAfterMs !== null, ' without Retry-After') };
    default:
      return {
        fate: (status >= 400 && status < 500) || code === 'storage_full' ? 'refused' : 'unknown',
        fault: unless(false, ''),
      };
  }
}
