/** An account, and the epoch at which it was authenticated: what was cached at an earlier one is outdated. */
export interface Sender {
  readonly accountId: string;
  readonly epoch: number;
}

/** Knows to which endpoints the messages of an account go. */
export abstract class DeliveryTargets {
  /** The ids of the endpoints that are enabled now. */
  abstract of(sender: Sender): Promise<readonly string[]>;
}

/** The failure reason of a message for webhooks whose account has no enabled endpoint. */
export const NO_ENDPOINT = 'no_endpoint';
