interface DeliveryRules {
  /** Each message has a job in the queue, which is added by way of the outbox. */
  readonly hasJob: boolean;
  /** Each message has a delivery to every enabled endpoint of its account. It is final when all of them have ended. */
  readonly hasEndpoints: boolean;
  /**
   * Consumers lease messages over HTTP. A message has a time from which it is available; a lease sets it to the end of
   * the lease.
   */
  readonly isLeased: boolean;
}

/**
 * How the messages of an account reach its consumers: workers call a handler, Sluice calls the account's endpoints, or
 * consumers lease them over HTTP. A message keeps the mode that was in force when it was accepted.
 */
export const DELIVERY_MODES = {
  handler: { hasJob: true, hasEndpoints: false, isLeased: false },
  webhooks: { hasJob: false, hasEndpoints: true, isLeased: false },
  pull: { hasJob: false, hasEndpoints: false, isLeased: true },
} as const satisfies Readonly<Record<string, DeliveryRules>>;

export type DeliveryMode = keyof typeof DELIVERY_MODES;
export const DELIVERY_MODE_NAMES = Object.keys(DELIVERY_MODES) as readonly DeliveryMode[];

export const INITIAL_DELIVERY_MODE = 'handler' satisfies DeliveryMode;

/** The delivery modes with this property. */
export function modesWith(rule: keyof DeliveryRules): readonly DeliveryMode[] {
  return DELIVERY_MODE_NAMES.filter((mode) => DELIVERY_MODES[mode][rule]);
}
