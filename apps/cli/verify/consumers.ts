import type { Guarantee } from './check-guarantees.js';

/** Who gets the messages of the account while they are verified. */
export interface Consumers {
  /**
   * Has the account deliver to them. `stop` must follow, also if this fails.
   * @throws UsageError when the account or the key is not suitable
   */
  start(): Promise<void>;
  has(id: string): boolean;
  /** Whether nobody else may have had messages, by the account's delivery mode. */
  areAlone(): Promise<boolean>;
  /** What they have found besides. */
  readonly guarantees: readonly Guarantee[];
  /** Ends the consumers and restores the account; what is not restored is said when the process ends. */
  stop(): Promise<void>;
}
