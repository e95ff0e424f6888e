/** The limiter's decisions on requests. `stranger` stands for a request without a valid API key. */
export const DECISIONS = [
  'admitted',
  'refused',
  'banned',
  'unavailable',
  'stranger_admitted',
  'stranger_refused',
  'operator_admitted',
  'operator_refused',
] as const;

export type Decision = (typeof DECISIONS)[number];
