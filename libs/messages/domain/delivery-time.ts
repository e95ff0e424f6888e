export const MAX_DELAY_DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * Why a message can't be scheduled for a time, as a sentence for the caller; null when it can. A past time means now,
 * so that a request can be repeated unchanged.
 */
export function deliverAtError(deliverAt: Date, now: Date): string | null {
  const isTooFar = deliverAt.getTime() - now.getTime() > MAX_DELAY_DAYS * DAY_MS;
  return isTooFar ? `deliverAt must be at most ${MAX_DELAY_DAYS} days ahead.` : null;
}
