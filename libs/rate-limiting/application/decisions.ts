/** The limiter's decisions on requests. `anonymous` stands for a request without a valid API key. */
export const DECISIONS = [
  'admitted',
  'refused',
  'banned',
  'unavailable',
  'anonymous_admitted',
  'anonymous_refused',
  'operator_admitted',
  'operator_refused',
] as const;

export type Decision = (typeof DECISIONS)[number];
