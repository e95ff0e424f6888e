/** The number of messages that a batch may have. */
export const MAX_BATCH = 1_000;

/** Why messages can't be sent together, as a sentence for the sender; null when they can. */
export function batchError(count: number): string | null {
  if (count === 0) return 'messages must not be empty.';
  return count > MAX_BATCH ? `messages must have at most ${MAX_BATCH} items.` : null;
}
