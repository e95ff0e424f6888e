-- As before, with `nextAttemptAt`, as everywhere that a message is shown: a failed one has no next attempt. `concat` leaves out
-- what is null.
CREATE OR REPLACE FUNCTION sluice.report_failed_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM new_rows WHERE status = 'failed') THEN
    EXECUTE $sql$
      SELECT sluice.send_operational_event(account_id, 'sluice.message.failed', concat(
        '{"id":', to_json(id), ',"message":', to_json(text), ',"type":' || to_json(type), ',"metadata":' || metadata,
        ',"orderingKey":' || to_json(ordering_key), ',"status":"failed","createdAt":', sluice.json_time(created_at),
        ',"deliverAt":' || CASE WHEN deliver_at IS NOT NULL THEN sluice.json_time(deliver_at) END,
        ',"delivery":', to_json(delivery),
        ',"updatedAt":', sluice.json_time(updated_at), ',"attempts":', attempts,
        ',"failureReason":', coalesce(to_json(failure_reason)::text, 'null'), ',"nextAttemptAt":null}'))
      FROM (
        SELECT n.* FROM new_rows n JOIN (SELECT id, status AS before FROM old_rows) o USING (id)
        WHERE n.status = 'failed' AND before <> 'failed' AND (n.type LIKE 'sluice.%') IS NOT TRUE
          AND sluice.wants_operational_event(n.account_id, 'sluice.message.failed')
        ORDER BY n.account_id, n.id OFFSET 0
      ) failed $sql$;
  END IF;
  RETURN NULL;
END $$;
