interface DeliveryRules {
  /** A worker takes a job of it from the queue. It gets there by the outbox. */
  readonly hasJob: boolean;
  /** It has a delivery to each enabled endpoint of its account. It is final when none of them is left to make. */
  readonly hasEndpoints: boolean;
  /** Consumers lease it over HTTP. It is available from a time on, which each lease moves to its own end. */
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

/** The modes for which a rule holds. */
export function modesWith(rule: keyof DeliveryRules): readonly DeliveryMode[] {
  return DELIVERY_MODE_NAMES.filter((mode) => DELIVERY_MODES[mode][rule]);
}
