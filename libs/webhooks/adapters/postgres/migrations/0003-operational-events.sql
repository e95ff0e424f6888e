-- Operational events are messages that Sluice sends to the endpoints that name their type. Triggers create them, in the
-- transaction of what they report, so that no way in which it happens can forget them. Their text is the data of the
-- event as JSON, which is longer than a message that it contains.
ALTER TABLE sluice.messages
  DROP CONSTRAINT messages_text_check,
  ADD CONSTRAINT messages_text_check
    CHECK (octet_length(text) BETWEEN 1 AND CASE WHEN type LIKE 'sluice.%' THEN 2097152 ELSE 262144 END);

-- A time as the API shows it.
CREATE FUNCTION sluice.json_time(at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(to_char(at AT TIME ZONE 'UTC', '"\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\""'), 'null')
$$;

-- The id of a message: a UUID of version 7 as a TypeID, in 10 characters of 5 bits each for the milliseconds and 16 for
-- random bits, among which are those of the version and of the variant.
CREATE FUNCTION sluice.new_message_id(at timestamptz) RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT 'msg_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + CASE
      WHEN place < 10 THEN (ms >> (5 * (9 - place)) & 31)::int
      WHEN place = 10 THEN get_byte(random, 0) & 1 | 14
      WHEN place = 13 THEN get_byte(random, 3) & 19 | 8
      ELSE get_byte(random, place - 10) & 31
    END, 1), '' ORDER BY place)
  FROM (SELECT floor(extract(epoch FROM at) * 1000)::bigint AS ms, uuid_send(gen_random_uuid()) AS random) parts,
    generate_series(0, 25) AS place
$$;

CREATE FUNCTION sluice.wants_operational_event(account text, event text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM sluice.enabled_endpoints e WHERE e.account_id = account AND e.types && sluice.type_patterns(event))
$$;

-- Stores a message of the mode webhooks, whatever the account's is. It counts as stored with what a message and its
-- deliveries count. It is announced as by PostgresAvailability, since no process may be looking for deliveries often, such
-- as in an installation that is quiet. The payload begins with the origin of an announcement, which is empty for the
-- database.
CREATE FUNCTION sluice.send_operational_event(account text, event text, data text) RETURNS void LANGUAGE sql VOLATILE AS $$
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

-- The statement is planned each time, for as many rows as there are, like that of sluice.record_events. Accounts are in one
-- order, in which their counts are locked. An operational event that fails reports nothing.
CREATE FUNCTION sluice.report_failed_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM new_rows WHERE status = 'failed') THEN
    EXECUTE $sql$
      SELECT sluice.send_operational_event(account_id, 'sluice.message.failed', concat(
        '{"id":', to_json(id), ',"message":', to_json(text), ',"type":' || to_json(type), ',"metadata":' || metadata,
        ',"orderingKey":' || to_json(ordering_key), ',"status":"failed","createdAt":', sluice.json_time(created_at),
        ',"deliverAt":', sluice.json_time(deliver_at), ',"delivery":', to_json(delivery),
        ',"updatedAt":', sluice.json_time(updated_at), ',"attempts":', attempts,
        ',"failureReason":', coalesce(to_json(failure_reason)::text, 'null'), '}'))
      FROM (
        SELECT n.* FROM new_rows n JOIN (SELECT id, status AS before FROM old_rows) o USING (id)
        WHERE n.status = 'failed' AND before <> 'failed' AND (n.type LIKE 'sluice.%') IS NOT TRUE
          AND sluice.wants_operational_event(n.account_id, 'sluice.message.failed')
        ORDER BY n.account_id, n.id OFFSET 0
      ) failed $sql$;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER messages_failed AFTER UPDATE ON sluice.messages
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
  EXECUTE FUNCTION sluice.report_failed_messages();

CREATE FUNCTION sluice.report_disabled_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM sluice.send_operational_event(NEW.account_id, 'sluice.endpoint.disabled', concat(
    '{"id":', to_json(NEW.id), ',"url":', to_json(NEW.url), ',"description":', to_json(NEW.description),
    ',"rateLimitPerSecond":', NEW.rate_limit_per_second, ',"types":', to_json(NEW.types),
    ',"headerNames":', to_json(NEW.header_names), ',"enabled":false,"createdAt":', sluice.json_time(NEW.created_at),
    ',"disabledAt":', sluice.json_time(NEW.disabled_at), ',"disabledReason":', to_json(NEW.disabled_reason),
    ',"failingSince":', sluice.json_time(NEW.failing_since), '}'));
  RETURN NULL;
END $$;

CREATE TRIGGER endpoint_disabled AFTER UPDATE OF enabled ON sluice.endpoints
  FOR EACH ROW WHEN (OLD.enabled AND NOT NEW.enabled) EXECUTE FUNCTION sluice.report_disabled_endpoint();

-- The ends of the windows whose limit was last reported as reached.
ALTER TABLE sluice.rate_limits
  ADD COLUMN reported_minute_ends_ms bigint NOT NULL DEFAULT 0,
  ADD COLUMN reported_day_ends_ms bigint NOT NULL DEFAULT 0;

-- Deferred to the end of the transaction, when the counts are stored: only the first refusal of a key in a window pays for
-- it, and refusals of one account come one after another. A fault refuses nobody.
CREATE FUNCTION sluice.report_reached_limit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_data text;
BEGIN
  IF NOT sluice.wants_operational_event(NEW.account_id, 'sluice.account.limit_reached') THEN RETURN NULL; END IF;
  WITH refusing AS (
    SELECT account_id, day_ends_ms = NEW.refusing_window_ends_ms AS is_day, per_minute, per_day
    FROM sluice.rate_limits r JOIN sluice.account_plans a ON a.id = account_id WHERE account_id = NEW.account_id
  )
  UPDATE sluice.rate_limits r
  SET reported_day_ends_ms = CASE WHEN is_day THEN day_ends_ms ELSE reported_day_ends_ms END,
      reported_minute_ends_ms = CASE WHEN is_day THEN reported_minute_ends_ms ELSE minute_ends_ms END
  FROM refusing
  WHERE r.account_id = refusing.account_id
    AND CASE WHEN is_day THEN reported_day_ends_ms <> day_ends_ms ELSE reported_minute_ends_ms <> minute_ends_ms END
  RETURNING concat(
    '{"window":"', CASE WHEN is_day THEN 'day' ELSE 'minute' END,
    '","minute":{"limit":', per_minute, ',"used":', minute_used, ',"remaining":', greatest(0, per_minute - minute_used),
    ',"resetsAt":', sluice.json_time(to_timestamp(minute_ends_ms / 1000.0)),
    '},"day":{"limit":', per_day, ',"used":', day_used, ',"remaining":', greatest(0, per_day - day_used),
    ',"resetsAt":', sluice.json_time(to_timestamp(day_ends_ms / 1000.0)), '}}') INTO v_data;
  IF v_data IS NOT NULL THEN
    PERFORM sluice.send_operational_event(NEW.account_id, 'sluice.account.limit_reached', v_data);
  END IF;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER limit_reached AFTER INSERT ON sluice.offences DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.refusing_window_ends_ms > 0) EXECUTE FUNCTION sluice.report_reached_limit();
CREATE CONSTRAINT TRIGGER limit_reached_again AFTER UPDATE ON sluice.offences DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.refusing_window_ends_ms > OLD.refusing_window_ends_ms)
  EXECUTE FUNCTION sluice.report_reached_limit();
