import { MESSAGE_STATUSES, TRANSITIONS, type MessageStatus } from '#messages/index.js';
import { FIRST_RECOUNT } from '../../domain/recount.js';

const sqlList = (statuses: readonly MessageStatus[]): string => statuses.map((status) => `'${status}'`).join(', ');

const CAN_CHANGE = new Set<MessageStatus>(Object.values(TRANSITIONS).map(({ from }) => from));

/** The statuses that no message ever leaves. */
export const ENDS = sqlList(MESSAGE_STATUSES.filter((status) => !CAN_CHANGE.has(status)));

/** All statuses but the one that nearly all messages end with. */
export const UNDELIVERED = sqlList(MESSAGE_STATUSES.filter((status) => status !== 'delivered'));

/** All statuses. */
export const STATUSES = sqlList(MESSAGE_STATUSES);

/** Only who has locked the row counts, so that nothing is counted twice. */
export const LOCK_PROGRESS = 'SELECT counted FROM sluice.usage_progress FOR UPDATE';

/**
 * Adds messages to the counts, apart from those that Sluice itself sends.
 * @param rows with `account_id`, `type`, `created_at`, `status` and `content_bytes` of each
 */
export const addUsage = (rows: string): string => `
    INSERT INTO sluice.usage AS u (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled, recount_at)
    SELECT account_id, date_trunc('hour', created_at, 'UTC') AS start, count(*), sum(content_bytes),
           count(*) FILTER (WHERE status = 'delivered'), count(*) FILTER (WHERE status = 'failed'),
           count(*) FILTER (WHERE status = 'cancelled'),
           CASE WHEN count(*) > count(*) FILTER (WHERE status IN (${ENDS})) THEN now() + interval '${FIRST_RECOUNT}' END
    FROM ${rows} WHERE (type LIKE 'sluice.%') IS NOT TRUE GROUP BY account_id, start ORDER BY account_id, start
    ON CONFLICT (account_id, day, start) DO UPDATE
    SET accepted = u.accepted + excluded.accepted, accepted_bytes = u.accepted_bytes + excluded.accepted_bytes,
        delivered = u.delivered + excluded.delivered, failed = u.failed + excluded.failed,
        cancelled = u.cancelled + excluded.cancelled, recount_at = coalesce(u.recount_at, excluded.recount_at)`;
