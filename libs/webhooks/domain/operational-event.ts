/**
 * The types of the messages that Sluice itself sends to the endpoints of an account that name them. When each is sent is
 * decided by triggers: see migrations/0003-operational-events.sql and 0009-next-attempt-of-events.sql.
 */
export const OPERATIONAL_EVENTS = [
  'sluice.message.failed',
  'sluice.endpoint.disabled',
  'sluice.account.limit_reached',
] as const;
