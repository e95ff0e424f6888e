import { TRANSITIONS } from '../../../domain/message-status.js';
import { DayStatement } from '../day-statement.js';
import { hasJob } from '../delivery-mode.sql.js';
import { BYTES } from '../message-size.sql.js';
import { isHalted } from '../account-state.sql.js';
import { COLUMNS_WITHOUT_JOB, columnsOf } from '../message-row.js';
import { isTakenBack } from '../order/lines.sql.js';
import { insertEntries } from '../start-delivery.sql.js';

const { startProcessing, takeOver } = TRANSITIONS;

/** When the job of a message that was taken back is looked at again. */
const ASK_AGAIN_MS = 1_000;

/*
 * While a message is processing, `updated_at` is the start of its attempt: a take-over records the lost attempt with
 * it. A claim with the token that a message already has is repeated after a lost response: it counts nothing again.
 * Rows are locked first, and always in the same order, so that the recorded attempt is the one that is taken over.
 * They are found by id alone: otherwise a planner that expects few open messages would read all of them. A job of a
 * message that has another delivery mode is ignored.
 *
 * A take-over does not wait until the other claim has expired. The queue decides when it may happen: it gives a job to
 * another worker once its lock has expired (WORKER_LOCK_MS), and no sooner.
 *
 * A message that waits for its next attempt is not claimed either: its worker may have been lost before it delayed the
 * job. The wait of a row from the future is ignored: the clock was wrong when it was set. One that was taken back, since a
 * message before it was retried, waits for as long as that takes: its job asks again and again.
 *
 * Messages of a suspended or paused account are not claimed. Each moves from the queue to the outbox, where it waits for
 * the account to be resumed: their jobs would otherwise be taken again and again.
 *
 * A commit that only begins first attempts of queued messages does not wait for the disk. If a crash of the database loses
 * it, the message is queued as before, with its job; an attempt that runs meanwhile is stored by its end, which waits.
 * Handlers of messages with an ordering key are told to compare attempts: the number of one is not given twice.
 */
export const CLAIM = new DayStatement(
  'claim',
  (isOfDay) => `
  WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::uuid[], $4::int[]) AS t (id, retries, token, lease_ms)
  ), held AS (
    SELECT id, account_id, status, delivery, claim, updated_at, retries, ordering_key,
           CASE WHEN ${isHalted('account_id')} THEN ${BYTES} END
             AS halted_bytes,
           CASE WHEN ${isTakenBack('messages')} THEN ${ASK_AGAIN_MS}
                WHEN updated_at <= clock_timestamp() AND next_attempt_at > clock_timestamp()
                THEN ceil(extract(epoch FROM next_attempt_at - clock_timestamp()) * 1000)::int END AS wait_ms
    FROM sluice.messages WHERE id = ANY ($1::text[])${isOfDay('id')} ORDER BY id FOR UPDATE
  ), claimed AS (
    UPDATE sluice.messages m
    SET status = '${startProcessing.to}', claim = t.token, claim_alone = false,
        claim_expires_at = clock_timestamp() + t.lease_ms * interval '1 millisecond',
        attempts = m.attempts + (h.claim IS DISTINCT FROM t.token)::int,
        crashes = m.crashes + (h.status = '${takeOver.from}' AND h.claim <> t.token)::int,
        lone_crashes = m.lone_crashes + (h.status = '${takeOver.from}' AND h.claim <> t.token AND m.claim_alone)::int,
        next_attempt_at = NULL, updated_at = clock_timestamp()
    FROM wanted t JOIN held h USING (id, retries)
    WHERE m.id = h.id${isOfDay('m.id')} AND h.status IN ('${startProcessing.from}', '${takeOver.from}') AND ${hasJob('h.delivery')}
      AND h.halted_bytes IS NULL AND h.wait_ms IS NULL
    RETURNING ${columnsOf('m', COLUMNS_WITHOUT_JOB)}, h.status AS held_status, h.claim AS held_claim,
              h.updated_at AS held_since
  ), halted AS (${insertEntries({
    rows: `(
      SELECT id, account_id, halted_bytes AS bytes FROM held JOIN wanted USING (id, retries)
      WHERE status IN ('${startProcessing.from}', '${takeOver.from}') AND halted_bytes IS NOT NULL
        AND ${hasJob('delivery')}
    ) halted`,
    groupBy: 'id, account_id',
    isHalted: 'true',
    // Its worker has to remove the job first: until then, another job of the message would be ignored.
    mayHaveJob: true,
  })}
  ), lost AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, outcome)
    SELECT id, attempts - 1, account_id, held_since, 'lost' FROM claimed
    WHERE held_status = '${takeOver.from}' AND held_claim <> claim
    ON CONFLICT DO NOTHING
  ), waiting AS (
    SELECT token, wait_ms FROM held JOIN wanted USING (id, retries)
    WHERE wait_ms IS NOT NULL AND halted_bytes IS NULL
  )
  SELECT * FROM claimed FULL JOIN waiting ON waiting.token = claimed.claim
  CROSS JOIN (
    SELECT CASE WHEN NOT EXISTS (
      SELECT FROM held
      WHERE status <> '${startProcessing.from}' OR halted_bytes IS NOT NULL OR ordering_key IS NOT NULL
    ) THEN set_config('synchronous_commit', 'off', true) END AS synchronous_commit
  ) durability`,
);

/** Records that a claimed message runs alone, and renews its claim. */
export const RENEW_CLAIM_ALONE = `
  UPDATE sluice.messages
  SET claim_alone = true, claim_expires_at = clock_timestamp() + $3 * interval '1 millisecond'
  WHERE id = $1 AND claim = $2 RETURNING id`;
