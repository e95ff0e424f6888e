/**
 * Characters. A CHECK of the table repeats it. The order itself is kept by functions of the schema: see ADR 22 and
 * migrations/0006-order.sql.
 */
export const MAX_ORDERING_KEY = 128;

export const ORDERING_KEY = /^[!-~]+$/;

/** Why a text can't be an ordering key, as a sentence for the caller; null when it can. */
export function orderingKeyError(key: string): string | null {
  if (key.length <= MAX_ORDERING_KEY && ORDERING_KEY.test(key)) return null;
  return `orderingKey must be 1 to ${MAX_ORDERING_KEY} visible ASCII characters.`;
}
