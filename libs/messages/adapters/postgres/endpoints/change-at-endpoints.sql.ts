import { TRANSITIONS } from '../../../domain/message-status.js';
import type { IsOfDay } from '../day-statement.js';
import { FRESH_ATTEMPTS } from '../message-row.js';

const { startProcessing, deliver, fail, retry, replay } = TRANSITIONS;

/*
 * How deliveries to endpoints change their messages. Statements are composed of these; each has locked its messages, and
 * finds them by id alone: otherwise a planner that expects few open messages would read all of them.
 */

/**
 * Starts attempts. A delivered message may be replayed to an endpoint, which does not change its status.
 * @param started rows with `message_id` and `attempts`: the number of the last attempt
 * @param ids the ids of messages, as an array
 * @param token the token of the claim
 * @param isOfDay of the statement that contains it
 */
export const startAttempts = (started: string, ids: string, token: string, isOfDay: IsOfDay): string => `
    UPDATE sluice.messages m
    SET attempts = s.attempts,
        status = CASE m.status WHEN '${deliver.to}' THEN m.status ELSE '${startProcessing.to}' END,
        claim = CASE WHEN m.status <> '${deliver.to}' THEN coalesce(m.claim, ${token}) END,
        claim_expires_at = CASE WHEN m.status <> '${deliver.to}' THEN 'infinity'::timestamptz END,
        updated_at = CASE m.status WHEN '${startProcessing.from}' THEN clock_timestamp() ELSE m.updated_at END
    FROM (${started}) s
    WHERE m.id = ANY (${ids}) AND m.id = s.message_id${isOfDay('m.id')}`;

/**
 * Ends messages: one with a reason has failed, another one is delivered.
 * @param ended rows with `id` and `reason`
 * @param ids the ids of messages, as an array
 * @param isOfDay of the statement that contains it
 */
export const endMessages = (ended: string, ids: string, isOfDay: IsOfDay): string => `
  UPDATE sluice.messages m
  SET status = CASE WHEN reason IS NULL THEN '${deliver.to}' ELSE '${fail.to}' END,
      failure_reason = reason, updated_at = clock_timestamp(), claim = NULL, claim_expires_at = NULL
  FROM (${ended}) e
  WHERE m.id = ANY (${ids}) AND m.id = e.id${isOfDay('m.id')}`;

/**
 * Replays messages: those that failed or were skipped are queued again.
 * @param messages rows with `id` and `status`
 */
export const replayMessages = (messages: string): string => `
    UPDATE sluice.messages m SET status = '${retry.to}', failure_reason = NULL, ${FRESH_ATTEMPTS}
    FROM ${messages} AS t WHERE m.id = t.id AND t.status IN ('${retry.from}', '${replay.from}')`;
