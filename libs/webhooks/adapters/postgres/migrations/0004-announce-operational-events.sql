-- Announces itself, as PostgresAvailability does: what it reports may happen where no process looks for deliveries often,
-- such as in an installation that is quiet. The payload begins with the origin of an announcement, which is empty for the
-- database.
--
-- Of the mode webhooks, whatever the account's is. It counts as stored with what a message and its deliveries count.
CREATE OR REPLACE FUNCTION sluice.send_operational_event(account text, event text, data text) RETURNS void LANGUAGE sql VOLATILE AS $$
  WITH targets AS (
    SELECT id FROM sluice.enabled_endpoints e WHERE e.account_id = account AND e.types && sluice.type_patterns(event)
  ), sent AS (
    INSERT INTO sluice.messages (id, account_id, text, type, status, created_at, updated_at, delivery)
    SELECT sluice.new_message_id(at), account, data, event, 'queued', at, at, 'webhooks'
    FROM date_trunc('milliseconds', clock_timestamp()) AS at WHERE EXISTS (SELECT FROM targets)
    RETURNING id, created_at
  ), counted AS (
    INSERT INTO sluice.storage AS s (account_id, day, bytes, messages)
    SELECT account, (created_at AT TIME ZONE 'UTC')::date,
           octet_length(data) + octet_length(event) + 256 + 1024 * (SELECT count(*) FROM targets), 1
    FROM sent
    ON CONFLICT (account_id, day) DO UPDATE SET bytes = s.bytes + excluded.bytes, messages = s.messages + 1
  )
  INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at, ready)
  SELECT sent.id, targets.id, account, clock_timestamp(), true FROM sent CROSS JOIN targets;
  SELECT pg_notify('sluice_available', ' webhooks') WHERE sluice.wants_operational_event(account, event)
$$;
