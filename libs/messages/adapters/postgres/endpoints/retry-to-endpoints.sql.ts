import { NO_ENDPOINT } from '../../../domain/message.js';
import { TRANSITIONS } from '../../../domain/message-status.js';
import { hasEndpoints } from '../delivery-mode.sql.js';
import { releasedAt, restartDeliveries } from '../start-delivery.sql.js';

/** The patterns that match a type. A message without one pays for no more than this. */
const patternsOf = (type: string): string =>
  `CASE WHEN ${type} IS NULL THEN '{*}' ELSE sluice.type_patterns(${type}) END`;

/** Whether an enabled endpoint wants messages of a type. */
export const isWantedBy = (endpoint: string, type: string): string =>
  `(SELECT e.types FROM sluice.enabled_endpoints e WHERE e.id = ${endpoint}) && ${patternsOf(type)}`;

/** The enabled endpoints of an account that want messages of a type, as an array. */
export const endpointsFor = (account: string, type: string): string => `ARRAY(
    SELECT e.id FROM (SELECT ${patternsOf(type)} AS patterns OFFSET 0) matching JOIN sluice.enabled_endpoints e ON e.account_id = ${account} AND e.types && patterns ORDER BY e.id)`;

/** Whether an account has an enabled endpoint, whatever it wants. */
export const hasEnabledEndpoint = (account: string): string =>
  `EXISTS (SELECT FROM sluice.enabled_endpoints e WHERE e.account_id = ${account})`;

/** The reason of deliveries that end because their endpoint was disabled. */
const NOT_ENABLED = 'endpoint_disabled';

/**
 * Whether an endpoint has got a message. As a condition, the outcome would let the planner read the index of all attempts
 * that have delivered something.
 */
export const hasBeenDelivered = (attempts: string): string => `(
  SELECT bool_or(a.outcome = 'delivered') FROM sluice.attempts a WHERE ${attempts}) IS TRUE`;

/** Whether a message `m` has not reached one of these endpoints yet. */
export const lacks = (m: string, endpoint: string): string =>
  `NOT ${hasBeenDelivered(`a.message_id = ${m}.id AND a.target = ${endpoint}`)}`;

/**
 * The status and the reason of a failure of a message `m` that is retried. When no endpoint that wants it is left to reach,
 * it is delivered if any has it.
 */
export const retriedAs = (account: string, status: string, reason: string) => {
  const endpoints = endpointsFor(account, 'm.type');
  const hasNoEndpoint = `(
  ${hasEndpoints('m.delivery')} AND NOT EXISTS (
    SELECT FROM unnest(${endpoints}) AS e (id) WHERE ${lacks('m', 'e.id')}))`;
  const isDelivered = hasBeenDelivered('a.message_id = m.id');
  return {
    status: `CASE WHEN NOT ${hasNoEndpoint} THEN ${status}
           WHEN ${isDelivered} THEN '${TRANSITIONS.deliver.to}'
           WHEN ${hasEnabledEndpoint(account)} THEN '${TRANSITIONS.skip.to}' ELSE '${TRANSITIONS.fail.to}' END`,
    reason: `CASE WHEN NOT ${hasNoEndpoint} THEN ${reason}
           WHEN NOT (${isDelivered} OR ${hasEnabledEndpoint(account)}) THEN '${NO_ENDPOINT}' END`,
  };
};

/**
 * CTEs after one of messages that are retried: they go to the endpoints that want them and have not got them yet, none
 * before its time, and those to others, which have missed it, no longer count.
 */
export const redeliver = (moved: string, account: string): string => `
  forgotten AS (
    UPDATE sluice.endpoint_deliveries d SET abandoned = coalesce(abandoned, '${NOT_ENABLED}')
    FROM ${moved} AS moved
    WHERE d.message_id = moved.id AND ${hasEndpoints('moved.delivery')} AND NOT d.endpoint_id = ANY (${endpointsFor(account, 'moved.type')})
  ), redelivered AS (${restartDeliveries(`
      SELECT moved.id AS message_id, e.id AS endpoint_id, moved.account_id,
             ${releasedAt('moved.position', 'greatest(moved.deliver_at, clock_timestamp())')} AS due_at
      FROM ${moved} AS moved CROSS JOIN unnest(${endpointsFor(account, 'moved.type')}) AS e (id)
      WHERE ${hasEndpoints('moved.delivery')} AND moved.failure_reason IS DISTINCT FROM '${NO_ENDPOINT}'
        AND ${lacks('moved', 'e.id')}`)}
    RETURNING message_id, endpoint_id
  )`;
