const MAX_DELAY_DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * What keeps a time from being the one at which a message is delivered, as a sentence for the caller; null when nothing
 * does. A time that has passed means now, so that a request can be repeated as it is.
 */
export function deliverAtFault(deliverAt: Date, now: Date): string | null {
  const isTooFar = deliverAt.getTime() - now.getTime() > MAX_DELAY_DAYS * DAY_MS;
  return isTooFar ? `deliverAt must be at most ${MAX_DELAY_DAYS} days ahead.` : null;
}
