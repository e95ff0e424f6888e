/**
 * How the messages of an account reach its consumers: workers call a handler, Sluice calls the account's endpoints, or
 * consumers lease them over HTTP. A message keeps the mode that was in force when it was accepted.
 */
export const DELIVERY_MODES = ['handler', 'webhooks', 'pull'] as const;
export type DeliveryMode = (typeof DELIVERY_MODES)[number];

export const INITIAL_DELIVERY_MODE = 'handler' satisfies DeliveryMode;
