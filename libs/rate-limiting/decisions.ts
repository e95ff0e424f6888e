/** What the limiter may decide over a request. Those without a valid API key are strangers. */
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
