/** What the limiter decides on a request. Requests without a valid API key are those of strangers. */
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
