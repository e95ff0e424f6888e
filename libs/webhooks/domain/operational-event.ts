/**
 * The types of the messages that Sluice itself sends to the endpoints of an account that name them. The functions
 * that create them are in the schema.
 */
export const OPERATIONAL_EVENTS = [
  'sluice.message.failed',
  'sluice.endpoint.disabled',
  'sluice.account.limit_reached',
] as const;
