import type { DeliveryMode } from './delivery-mode.js';

/** Who sent a request, once its API key is verified. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
  /** Grows whenever the account or one of its keys changes, which invalidates cached copies. */
  readonly epoch: number;
  /** Whether the account is suspended. */
  readonly suspended: boolean;
  /** How messages that the caller sends are delivered. */
  readonly delivery: DeliveryMode;
}
