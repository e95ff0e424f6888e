/** More than any account can send, and small enough to be counted. */
export const MAX_LIMIT = 1_000_000_000;

/** Why a value is not valid limits, as a sentence; null when it is. */
export function limitsError(value: unknown): string | null {
  const { perMinute, perDay } = (value ?? {}) as Record<string, unknown>;
  const valid = [perMinute, perDay].every(
    (limit) => Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= MAX_LIMIT,
  );
  return valid ? null : `limits must contain perMinute and perDay, whole numbers from 1 to ${MAX_LIMIT}.`;
}
