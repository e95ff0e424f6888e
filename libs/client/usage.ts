import type { ListOptions } from './transport.js';
import type { Time } from './types.js';

/** Which periods of a history. */
export interface UsageHistoryOptions extends ListOptions {
  /** The length of the periods, which begin and end in UTC: days by default. */
  readonly by?: 'hour' | 'day' | undefined;
  /** Only periods that start at this time or later. */
  readonly since?: Time | undefined;
  /** Only periods that start before this time. */
  readonly until?: Time | undefined;
}
