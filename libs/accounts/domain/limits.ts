export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** More than anybody can send, little enough to be counted. */
export const MAX_LIMIT = 1_000_000_000;

/** What keeps a value from being limits, as a sentence; null when nothing does. */
export function limitsFault(value: unknown): string | null {
  const { perMinute, perDay } = (value ?? {}) as Record<string, unknown>;
  const valid = [perMinute, perDay].every(
    (limit) => Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= MAX_LIMIT,
  );
  return valid ? null : `limits must hold perMinute and perDay, whole numbers from 1 to ${MAX_LIMIT}.`;
}
