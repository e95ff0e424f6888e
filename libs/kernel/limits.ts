/** Requests that an account may send. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}
