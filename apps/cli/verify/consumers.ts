import type { Guarantee } from './check-guarantees.js';

/** Who gets the messages of the account while they are verified. */
export interface Consumers {
  /**
   * Has the account deliver to them. `stop` must follow, also if this fails.
   * @throws UsageError when the account or the key is not suitable
   */
  start(): Promise<void>;
  has(id: string): boolean;
  /** What they have found besides. */
  readonly guarantees: readonly Guarantee[];
  /**
   * Ends the consumers and restores the account.
   * @throws UsageError when that is not possible
   */
  stop(): Promise<void>;
}
