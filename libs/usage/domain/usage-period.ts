const HOUR_MS = 3_600_000;

/** The lengths of periods, in milliseconds. All begin and end in UTC, whatever the time zone of a server or a client. */
export const PERIOD_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;

export type PeriodLength = keyof typeof PERIOD_MS;
export const PERIOD_LENGTHS = Object.keys(PERIOD_MS) as readonly PeriodLength[];

/** What an account has sent in a period, by the time of acceptance. */
export interface UsagePeriod {
  readonly start: Date;
  /** Messages that were accepted. */
  readonly accepted: number;
  /** The size of their content in bytes of UTF-8. */
  readonly acceptedBytes: number;
  /** How many of them are now delivered, failed or cancelled. The others are open. */
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** The first start of a period at this time or later. */
export function nextStart(at: Date, by: PeriodLength): Date {
  return new Date(Math.ceil(at.getTime() / PERIOD_MS[by]) * PERIOD_MS[by]);
}
