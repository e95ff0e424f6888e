-- The schema of version 0.1.0: pg_dump --schema=sluice --inserts --no-owner, and the indexes on tables of BullMQ.

SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;

CREATE SCHEMA sluice;

CREATE FUNCTION sluice.add_period(begins text, ends text, low text, high text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  parent text;
BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  IF NOT pg_try_advisory_xact_lock(hashtext('sluice.partitions')) THEN RETURN; END IF;
  IF (SELECT max(substring(relname, 19, 8)) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
      WHERE inhparent = 'sluice.messages'::regclass AND relname ~ '^messages_\d{8}_\d{8}$') IS DISTINCT FROM begins
  THEN RETURN; END IF;
  LOCK TABLE ONLY sluice.messages, ONLY sluice.attempts IN ACCESS EXCLUSIVE MODE;
  FOREACH parent IN ARRAY ARRAY['messages', 'attempts'] LOOP
    EXECUTE format(
      'ALTER TABLE sluice.%1$I DETACH PARTITION sluice.%2$I;
       CREATE TABLE sluice.%3$I PARTITION OF sluice.%1$I FOR VALUES FROM (%4$L) TO (%5$L);
       WITH moved AS (DELETE FROM sluice.%2$I WHERE %6$I < %5$L RETURNING *) INSERT INTO sluice.%3$I SELECT * FROM moved;
       ALTER TABLE sluice.%1$I ATTACH PARTITION sluice.%2$I FOR VALUES FROM (%5$L) TO (MAXVALUE)',
      parent, parent || '_after', parent || '_' || begins || '_' || ends, low, high,
      CASE parent WHEN 'messages' THEN 'id' ELSE 'message_id' END);
  END LOOP;
END $_$;

CREATE FUNCTION sluice.empty_period(begins text, ends text, low text, high text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  period text := begins || '_' || ends;
  is_open text := format(
    'SELECT EXISTS (SELECT FROM sluice.%1$I WHERE status IN (''queued'', ''processing'') AND delivery = ''handler'')
         OR EXISTS (SELECT FROM sluice.%1$I WHERE status IN (''queued'', ''processing'') AND delivery = ''webhooks'')
         OR EXISTS (SELECT FROM sluice.%1$I WHERE available_at IS NOT NULL)', 'messages_' || period);
  is_filled text := format('SELECT EXISTS (SELECT FROM sluice.%I)', 'messages_' || period);
  found boolean;
BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  IF NOT pg_try_advisory_xact_lock(hashtext('sluice.partitions')) THEN RETURN false; END IF;
  IF to_regclass(format('sluice.%I', 'messages_' || period)) IS NULL THEN RETURN false; END IF;
  EXECUTE is_filled INTO found;
  IF NOT found THEN RETURN false; END IF;
  -- First without a lock: a message may stay open for long.
  EXECUTE is_open INTO found;
  IF found THEN RETURN false; END IF;
  EXECUTE format('LOCK TABLE sluice.%I, sluice.%I IN ACCESS EXCLUSIVE MODE', 'messages_' || period, 'attempts_' || period);
  EXECUTE is_open INTO found;
  IF found THEN RETURN false; END IF;
  EXECUTE format('TRUNCATE sluice.%I, sluice.%I', 'messages_' || period, 'attempts_' || period);
  DELETE FROM sluice.endpoint_deliveries WHERE message_id >= low AND message_id < high;
  DELETE FROM sluice.storage WHERE day >= begins::date AND day < ends::date;
  RETURN true;
END $_$;

CREATE FUNCTION sluice.move_epoch() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_TABLE_NAME = 'accounts' THEN
    NEW.epoch := OLD.epoch + 1;
    RETURN NEW;
  END IF;
  UPDATE sluice.accounts SET epoch = epoch + 1 WHERE id = OLD.account_id;
  RETURN NULL;
END $$;

CREATE FUNCTION sluice.move_epoch_of_endpoint() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE sluice.accounts SET epoch = epoch + 1 WHERE id = coalesce(NEW.account_id, OLD.account_id);
  RETURN NULL;
END $$;

CREATE FUNCTION sluice.note_end_of_endpoint() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO sluice.ended_endpoints VALUES (OLD.id, 'endpoint_deleted')
    ON CONFLICT (id) DO UPDATE SET reason = excluded.reason;
  ELSIF NEW.enabled THEN
    DELETE FROM sluice.ended_endpoints WHERE id = NEW.id;
  ELSIF OLD.enabled THEN
    INSERT INTO sluice.ended_endpoints VALUES (NEW.id, 'endpoint_disabled') ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION sluice.record_events() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
BEGIN
  IF EXISTS (SELECT FROM sluice.event_streams WHERE open_until > now() - interval '1 hour') THEN
    EXECUTE $sql$
      INSERT INTO sluice.events (xid, account_id, message_id, status, updated_at, attempts, failure_reason)
      SELECT $sql$ || CASE TG_OP WHEN 'UPDATE' THEN $sql$
             greatest(pg_current_xact_id(), (
               SELECT e.xid FROM sluice.events e WHERE e.xid > pg_current_xact_id() AND e.message_id = n.id
               ORDER BY e.xid DESC LIMIT 1
             )) $sql$ ELSE 'pg_current_xact_id()' END || $sql$,
             account_id, n.id, n.status, updated_at, attempts, failure_reason
      FROM new_rows n $sql$ || CASE TG_OP WHEN 'UPDATE' THEN $sql$
      JOIN (SELECT id, status AS before FROM old_rows) o ON o.id = n.id AND before <> n.status $sql$ ELSE '' END || $sql$
      WHERE account_id IN (SELECT account_id FROM sluice.event_streams WHERE open_until > now() - interval '1 hour')
      ORDER BY n.id $sql$;
  END IF;
  RETURN NULL;
END $_$;

CREATE FUNCTION sluice.remove_period(begins text, ends text, high text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  period text := begins || '_' || ends;
  is_filled text := format('SELECT EXISTS (SELECT FROM sluice.%I)', 'messages_' || period);
  found boolean;
  parent text;
BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  IF NOT pg_try_advisory_xact_lock(hashtext('sluice.partitions')) THEN RETURN; END IF;
  IF (SELECT min(substring(relname, 10, 8)) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
      WHERE inhparent = 'sluice.messages'::regclass AND relname ~ '^messages_\d{8}_\d{8}$') IS DISTINCT FROM begins
  THEN RETURN; END IF;
  EXECUTE is_filled INTO found;
  IF found THEN RETURN; END IF;
  DELETE FROM sluice.storage WHERE day >= begins::date AND day < ends::date;
  LOCK TABLE ONLY sluice.messages, ONLY sluice.attempts IN ACCESS EXCLUSIVE MODE;
  EXECUTE is_filled INTO found;
  IF found THEN RETURN; END IF;
  FOREACH parent IN ARRAY ARRAY['messages', 'attempts'] LOOP
    EXECUTE format(
      'ALTER TABLE sluice.%1$I DETACH PARTITION sluice.%2$I;
       DROP TABLE sluice.%3$I;
       ALTER TABLE sluice.%1$I ATTACH PARTITION sluice.%2$I FOR VALUES FROM (MINVALUE) TO (%4$L)',
      parent, parent || '_before', parent || '_' || period, high);
  END LOOP;
END $_$;

CREATE FUNCTION sluice.take_hits(p_accounts text[], p_keys text[], p_epochs bigint[], p_counts integer[], p_whole boolean[], p_strikes integer[], p_grace_ms bigint, p_ban_after integer, p_ban_ms bigint, p_max_ban_ms bigint) RETURNS TABLE(ordinal bigint, stale boolean, admitted integer, per_minute integer, per_day integer, minute_used integer, minute_left_ms bigint, day_used integer, day_left_ms bigint, strikes integer, ban_after integer, strikes_in_ms bigint, spared integer, ban_left_ms bigint)
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  h record;
  o sluice.offences;
  v_now bigint;
  v_refused integer;
  v_struck integer;
  v_window_ends bigint;
  -- Whether the offences of a key may have been stored, by this call or before.
  v_offended boolean := false;
  -- Of the account being decided on.
  v_account text;
  v_minute_ends bigint;
  v_day_ends bigint;
  -- Of all accounts that have been decided on, to be stored.
  v_last integer := 0;
  v_accounts text[];
  v_minutes_used integer[];
  v_minutes_end bigint[];
  v_days_used integer[];
  v_days_end bigint[];
BEGIN
  -- Inserts the rows that are missing and locks the others, in one pass.
  INSERT INTO sluice.rate_limits AS r (account_id)
  SELECT DISTINCT a.id FROM unnest(p_accounts) AS u (id) JOIN sluice.accounts a ON a.id = u.id ORDER BY a.id
  ON CONFLICT (account_id) DO UPDATE SET minute_used = r.minute_used WHERE false;
  v_now := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;

  FOR h IN
    SELECT u.*, a.per_minute, a.per_day,
           -- -1: late strikes belong to the key whatever has changed since.
           a.id IS NULL OR r.account_id IS NULL OR (a.epoch <> u.epoch AND u.epoch <> -1) AS stale,
           -- After the clock went back, a window ends no later than one that begins now. The end is stored: otherwise it
           -- would move on while a client waits for it.
           CASE WHEN r.minute_ends_ms > v_now THEN r.minute_used ELSE 0 END AS minute_used,
           CASE WHEN r.minute_ends_ms > v_now THEN least(r.minute_ends_ms, v_now + 60000) ELSE 0 END AS minute_ends_ms,
           CASE WHEN r.day_ends_ms > v_now THEN r.day_used ELSE 0 END AS day_used,
           CASE WHEN r.day_ends_ms > v_now THEN least(r.day_ends_ms, v_now + 86400000) ELSE 0 END AS day_ends_ms,
           o.key_id IS NOT NULL AS has_offences
    FROM unnest(p_accounts, p_keys, p_epochs, p_counts, p_whole, p_strikes) WITH ORDINALITY
      AS u (account_id, key_id, epoch, count, whole, strikes, ordinal)
    LEFT JOIN sluice.accounts a ON a.id = u.account_id
    LEFT JOIN sluice.rate_limits r ON r.account_id = u.account_id
    LEFT JOIN sluice.offences o ON o.key_id = u.key_id
    ORDER BY u.account_id, ordinal
  LOOP
    ordinal := h.ordinal;
    stale := h.stale;
    IF stale THEN
      RETURN NEXT;
      CONTINUE;
    END IF;

    IF v_account IS DISTINCT FROM h.account_id THEN
      v_account := h.account_id;
      minute_used := h.minute_used;
      v_minute_ends := h.minute_ends_ms;
      day_used := h.day_used;
      v_day_ends := h.day_ends_ms;
      v_last := v_last + 1;
      v_accounts[v_last] := v_account;
    END IF;
    v_offended := v_offended OR h.has_offences;
    IF v_offended THEN
      SELECT * INTO o FROM sluice.offences x WHERE x.key_id = h.key_id;
    END IF;
    ban_left_ms := greatest(0, least(coalesce(o.banned_until_ms, 0) - v_now, p_max_ban_ms));
    admitted := 0;
    v_refused := 0;
    spared := 0;
    IF ban_left_ms = 0 THEN
      admitted := greatest(0, least(h.count, h.per_minute - minute_used, h.per_day - day_used));
      IF h.whole AND admitted < h.count THEN admitted := 0; END IF;
      v_refused := least(h.count - admitted, CASE WHEN h.whole THEN 1 ELSE h.count END);
      IF admitted > 0 THEN
        minute_used := minute_used + admitted;
        day_used := day_used + admitted;
        IF v_minute_ends = 0 THEN v_minute_ends := v_now + 60000; END IF;
        IF v_day_ends = 0 THEN v_day_ends := v_now + 86400000; END IF;
      END IF;
    END IF;
    v_minutes_used[v_last] := minute_used;
    v_minutes_end[v_last] := v_minute_ends;
    v_days_used[v_last] := day_used;
    v_days_end[v_last] := v_day_ends;

    ban_after := greatest(p_ban_after, h.per_minute / 10);
    IF v_refused > 0 OR (h.strikes > 0 AND ban_left_ms = 0) THEN
      IF v_refused > 0 THEN
        -- Of two refusing windows, the one that ends later.
        v_window_ends := greatest(
          CASE WHEN minute_used + CASE WHEN h.whole THEN h.count ELSE 1 END > h.per_minute THEN v_minute_ends ELSE 0 END,
          CASE WHEN day_used + CASE WHEN h.whole THEN h.count ELSE 1 END > h.per_day THEN v_day_ends ELSE 0 END);
        IF o.key_id IS NULL OR o.refusing_window_ends_ms <> v_window_ends THEN
          o.refusing_window_ends_ms := v_window_ends;
          o.strikes_from_ms := v_now + p_grace_ms;
        END IF;
      END IF;
      IF coalesce(o.strikes_end_ms, 0) <= v_now THEN
        o.strikes := 0;
        o.strikes_end_ms := v_now + 60000;
      END IF;
      o.strikes_end_ms := least(o.strikes_end_ms, v_now + 60000);
      v_struck := h.strikes + CASE WHEN v_now >= o.strikes_from_ms THEN v_refused ELSE 0 END;
      spared := least(v_refused, greatest(0, ban_after - 1 - o.strikes - h.strikes));
      IF v_now < o.strikes_from_ms THEN spared := v_refused; END IF;
      o.strikes := o.strikes + v_struck;
      IF o.strikes >= ban_after THEN
        o.bans := CASE WHEN coalesce(o.banned_at_ms, 0) > v_now - 86400000 THEN o.bans + 1 ELSE 1 END;
        o.banned_at_ms := v_now;
        o.banned_until_ms := v_now + least(p_ban_ms * 2 ^ least(o.bans - 1, 30), p_max_ban_ms)::bigint;
        ban_left_ms := o.banned_until_ms - v_now;
        o.reason := o.strikes || ' requests within a minute after the limit was exceeded';
        o.strikes := 0;
        o.strikes_end_ms := 0;
      ELSE
        spared := v_refused;
      END IF;
      INSERT INTO sluice.offences AS x (
        key_id, account_id, refusing_window_ends_ms, strikes_from_ms, strikes, strikes_end_ms, bans, banned_at_ms,
        banned_until_ms, reason
      ) VALUES (
        h.key_id, h.account_id, coalesce(o.refusing_window_ends_ms, 0), coalesce(o.strikes_from_ms, 0), o.strikes,
        o.strikes_end_ms, coalesce(o.bans, 0), coalesce(o.banned_at_ms, 0),
        coalesce(o.banned_until_ms, 0), o.reason
      )
      ON CONFLICT (key_id) DO UPDATE SET
        refusing_window_ends_ms = excluded.refusing_window_ends_ms, strikes_from_ms = excluded.strikes_from_ms,
        strikes = excluded.strikes, strikes_end_ms = excluded.strikes_end_ms, bans = excluded.bans,
        banned_at_ms = excluded.banned_at_ms, banned_until_ms = excluded.banned_until_ms, reason = excluded.reason;
      v_offended := true;
    END IF;

    per_minute := h.per_minute;
    per_day := h.per_day;
    minute_left_ms := CASE WHEN v_minute_ends = 0 THEN 60000 ELSE v_minute_ends - v_now END;
    day_left_ms := CASE WHEN v_day_ends = 0 THEN 86400000 ELSE v_day_ends - v_now END;
    strikes := coalesce(o.strikes, 0);
    strikes_in_ms := greatest(0, coalesce(o.strikes_from_ms, 0) - v_now);
    RETURN NEXT;
  END LOOP;

  INSERT INTO sluice.rate_limits AS r (account_id, minute_used, minute_ends_ms, day_used, day_ends_ms)
  SELECT * FROM unnest(v_accounts, v_minutes_used, v_minutes_end, v_days_used, v_days_end)
  ON CONFLICT (account_id) DO UPDATE
  SET minute_used = excluded.minute_used, minute_ends_ms = excluded.minute_ends_ms,
      day_used = excluded.day_used, day_ends_ms = excluded.day_ends_ms
  WHERE (r.minute_used, r.minute_ends_ms, r.day_used, r.day_ends_ms)
    IS DISTINCT FROM (excluded.minute_used, excluded.minute_ends_ms, excluded.day_used, excluded.day_ends_ms);
END $$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE sluice.accounts (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    plan text NOT NULL,
    per_minute integer NOT NULL,
    per_day integer NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    suspended boolean DEFAULT false NOT NULL,
    delivery text DEFAULT 'handler'::text NOT NULL,
    CONSTRAINT accounts_delivery_check CHECK ((delivery = ANY (ARRAY['handler'::text, 'webhooks'::text, 'pull'::text]))),
    CONSTRAINT accounts_per_day_check CHECK ((per_day > 0)),
    CONSTRAINT accounts_per_minute_check CHECK ((per_minute > 0)),
    CONSTRAINT accounts_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'business'::text, 'enterprise'::text])))
);

CREATE VIEW sluice.account_plans AS
 SELECT accounts.id,
    accounts.plan
   FROM sluice.accounts;

CREATE TABLE sluice.api_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    rotated_at timestamp with time zone,
    created_to_expire_at timestamp with time zone,
    CONSTRAINT api_keys_hash_check CHECK ((length(hash) = 32))
)
WITH (fillfactor='50');

CREATE TABLE sluice.attempts (
    message_id text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    outcome text NOT NULL,
    error text,
    target text DEFAULT 'handler'::text NOT NULL,
    response_status integer,
    response_body text,
    token uuid,
    CONSTRAINT attempts_check CHECK (((outcome = 'lost'::text) = (ended_at IS NULL))),
    CONSTRAINT attempts_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'retried'::text, 'failed'::text, 'lost'::text])))
)
PARTITION BY RANGE (message_id);

CREATE TABLE sluice.attempts_19700101_20261203 (
    message_id text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    outcome text NOT NULL,
    error text,
    target text DEFAULT 'handler'::text NOT NULL,
    response_status integer,
    response_body text,
    token uuid,
    CONSTRAINT attempts_check CHECK (((outcome = 'lost'::text) = (ended_at IS NULL))),
    CONSTRAINT attempts_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'retried'::text, 'failed'::text, 'lost'::text])))
);

CREATE TABLE sluice.attempts_after (
    message_id text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    outcome text NOT NULL,
    error text,
    target text DEFAULT 'handler'::text NOT NULL,
    response_status integer,
    response_body text,
    token uuid,
    CONSTRAINT attempts_check CHECK (((outcome = 'lost'::text) = (ended_at IS NULL))),
    CONSTRAINT attempts_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'retried'::text, 'failed'::text, 'lost'::text])))
);

CREATE TABLE sluice.attempts_before (
    message_id text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    outcome text NOT NULL,
    error text,
    target text DEFAULT 'handler'::text NOT NULL,
    response_status integer,
    response_body text,
    token uuid,
    CONSTRAINT attempts_check CHECK (((outcome = 'lost'::text) = (ended_at IS NULL))),
    CONSTRAINT attempts_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'retried'::text, 'failed'::text, 'lost'::text])))
);

CREATE TABLE sluice.endpoints (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL,
    description text NOT NULL,
    rate_limit_per_second integer NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason text,
    failing_since timestamp with time zone,
    secrets jsonb NOT NULL,
    rate_second timestamp with time zone,
    rate_taken integer,
    CONSTRAINT endpoints_check CHECK ((enabled = (disabled_at IS NULL))),
    CONSTRAINT endpoints_check1 CHECK ((enabled = (disabled_reason IS NULL))),
    CONSTRAINT endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['by_account'::text, 'gone'::text, 'failing'::text]))),
    CONSTRAINT endpoints_rate_limit_per_second_check CHECK ((rate_limit_per_second >= 0))
);

CREATE VIEW sluice.enabled_endpoints AS
 SELECT endpoints.id,
    endpoints.account_id
   FROM sluice.endpoints
  WHERE endpoints.enabled;

CREATE TABLE sluice.ended_endpoints (
    id text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    CONSTRAINT ended_endpoints_reason_check CHECK ((reason = ANY (ARRAY['endpoint_disabled'::text, 'endpoint_deleted'::text])))
);

CREATE TABLE sluice.endpoint_deliveries (
    message_id text NOT NULL COLLATE pg_catalog."C",
    endpoint_id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    due_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    token uuid,
    number integer,
    started_at timestamp with time zone,
    ready boolean DEFAULT false NOT NULL,
    abandoned text,
    CONSTRAINT endpoint_deliveries_check CHECK (((token IS NULL) = (number IS NULL))),
    CONSTRAINT endpoint_deliveries_check1 CHECK (((token IS NULL) = (started_at IS NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE sluice.event_streams (
    account_id text NOT NULL COLLATE pg_catalog."C",
    place integer NOT NULL,
    token uuid NOT NULL,
    open_until timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE sluice.events (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    id bigint NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    attempts integer NOT NULL,
    failure_reason text,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE sluice.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME sluice.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE sluice.idempotency_keys (
    account_id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint bytea NOT NULL,
    message_id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    message_ids text[],
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotency_keys_fingerprint_check CHECK ((length(fingerprint) = 32))
);

CREATE TABLE sluice.installation (
    name text NOT NULL,
    value text NOT NULL
);

CREATE TABLE sluice.kept_responses (
    scope text NOT NULL COLLATE pg_catalog."C",
    key_hash bytea NOT NULL,
    fingerprint bytea NOT NULL,
    sealed bytea NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kept_responses_fingerprint_check CHECK ((length(fingerprint) = 32)),
    CONSTRAINT kept_responses_key_hash_check CHECK ((length(key_hash) = 32))
);

CREATE TABLE sluice.messages (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    lone_crashes integer DEFAULT 0 NOT NULL,
    retries integer DEFAULT 0 NOT NULL,
    failure_reason text,
    claim uuid,
    claim_expires_at timestamp with time zone,
    claim_alone boolean DEFAULT false NOT NULL,
    traceparent text,
    deliver_at timestamp with time zone,
    delivery text DEFAULT 'handler'::text NOT NULL,
    available_at timestamp with time zone,
    next_attempt_at timestamp with time zone,
    CONSTRAINT messages_available CHECK (((available_at IS NOT NULL) = ((delivery = 'pull'::text) AND (status = ANY (ARRAY['queued'::text, 'processing'::text]))))),
    CONSTRAINT messages_check CHECK (((status = 'processing'::text) = (claim IS NOT NULL))),
    CONSTRAINT messages_check1 CHECK (((claim IS NULL) = (claim_expires_at IS NULL))),
    CONSTRAINT messages_delivery_check CHECK ((delivery = ANY (ARRAY['handler'::text, 'webhooks'::text, 'pull'::text]))),
    CONSTRAINT messages_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT messages_text_check CHECK (((octet_length(text) >= 1) AND (octet_length(text) <= 262144)))
)
PARTITION BY RANGE (id);

CREATE TABLE sluice.messages_19700101_20261203 (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    lone_crashes integer DEFAULT 0 NOT NULL,
    retries integer DEFAULT 0 NOT NULL,
    failure_reason text,
    claim uuid,
    claim_expires_at timestamp with time zone,
    claim_alone boolean DEFAULT false NOT NULL,
    traceparent text,
    deliver_at timestamp with time zone,
    delivery text DEFAULT 'handler'::text NOT NULL,
    available_at timestamp with time zone,
    next_attempt_at timestamp with time zone,
    CONSTRAINT messages_available CHECK (((available_at IS NOT NULL) = ((delivery = 'pull'::text) AND (status = ANY (ARRAY['queued'::text, 'processing'::text]))))),
    CONSTRAINT messages_check CHECK (((status = 'processing'::text) = (claim IS NOT NULL))),
    CONSTRAINT messages_check1 CHECK (((claim IS NULL) = (claim_expires_at IS NULL))),
    CONSTRAINT messages_delivery_check CHECK ((delivery = ANY (ARRAY['handler'::text, 'webhooks'::text, 'pull'::text]))),
    CONSTRAINT messages_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT messages_text_check CHECK (((octet_length(text) >= 1) AND (octet_length(text) <= 262144)))
);

CREATE TABLE sluice.messages_after (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    lone_crashes integer DEFAULT 0 NOT NULL,
    retries integer DEFAULT 0 NOT NULL,
    failure_reason text,
    claim uuid,
    claim_expires_at timestamp with time zone,
    claim_alone boolean DEFAULT false NOT NULL,
    traceparent text,
    deliver_at timestamp with time zone,
    delivery text DEFAULT 'handler'::text NOT NULL,
    available_at timestamp with time zone,
    next_attempt_at timestamp with time zone,
    CONSTRAINT messages_available CHECK (((available_at IS NOT NULL) = ((delivery = 'pull'::text) AND (status = ANY (ARRAY['queued'::text, 'processing'::text]))))),
    CONSTRAINT messages_check CHECK (((status = 'processing'::text) = (claim IS NOT NULL))),
    CONSTRAINT messages_check1 CHECK (((claim IS NULL) = (claim_expires_at IS NULL))),
    CONSTRAINT messages_delivery_check CHECK ((delivery = ANY (ARRAY['handler'::text, 'webhooks'::text, 'pull'::text]))),
    CONSTRAINT messages_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT messages_text_check CHECK (((octet_length(text) >= 1) AND (octet_length(text) <= 262144)))
);

CREATE TABLE sluice.messages_before (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    lone_crashes integer DEFAULT 0 NOT NULL,
    retries integer DEFAULT 0 NOT NULL,
    failure_reason text,
    claim uuid,
    claim_expires_at timestamp with time zone,
    claim_alone boolean DEFAULT false NOT NULL,
    traceparent text,
    deliver_at timestamp with time zone,
    delivery text DEFAULT 'handler'::text NOT NULL,
    available_at timestamp with time zone,
    next_attempt_at timestamp with time zone,
    CONSTRAINT messages_available CHECK (((available_at IS NOT NULL) = ((delivery = 'pull'::text) AND (status = ANY (ARRAY['queued'::text, 'processing'::text]))))),
    CONSTRAINT messages_check CHECK (((status = 'processing'::text) = (claim IS NOT NULL))),
    CONSTRAINT messages_check1 CHECK (((claim IS NULL) = (claim_expires_at IS NULL))),
    CONSTRAINT messages_delivery_check CHECK ((delivery = ANY (ARRAY['handler'::text, 'webhooks'::text, 'pull'::text]))),
    CONSTRAINT messages_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT messages_text_check CHECK (((octet_length(text) >= 1) AND (octet_length(text) <= 262144)))
);

CREATE TABLE sluice.migrations (
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE sluice.offences (
    key_id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    refusing_window_ends_ms bigint DEFAULT 0 NOT NULL,
    strikes_from_ms bigint DEFAULT 0 NOT NULL,
    strikes integer DEFAULT 0 NOT NULL,
    strikes_end_ms bigint DEFAULT 0 NOT NULL,
    bans integer DEFAULT 0 NOT NULL,
    banned_at_ms bigint DEFAULT 0 NOT NULL,
    banned_until_ms bigint DEFAULT 0 NOT NULL,
    reason text
)
WITH (fillfactor='50');

CREATE TABLE sluice.outbox (
    id bigint NOT NULL,
    message_ids text[] NOT NULL,
    bytes integer NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    for_sweeper boolean DEFAULT false NOT NULL,
    suspended_account text COLLATE pg_catalog."C",
    CONSTRAINT outbox_message_ids_check CHECK ((cardinality(message_ids) > 0))
);

ALTER TABLE sluice.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME sluice.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE sluice.rate_limits (
    account_id text NOT NULL COLLATE pg_catalog."C",
    minute_used integer DEFAULT 0 NOT NULL,
    minute_ends_ms bigint DEFAULT 0 NOT NULL,
    day_used integer DEFAULT 0 NOT NULL,
    day_ends_ms bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE sluice.reconciler (
    began_at timestamp with time zone NOT NULL,
    "position" text NOT NULL COLLATE pg_catalog."C",
    strays integer NOT NULL,
    strays_before integer NOT NULL
);

CREATE TABLE sluice.storage (
    account_id text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    bytes bigint NOT NULL,
    messages bigint NOT NULL
)
WITH (fillfactor='70');

CREATE VIEW sluice.suspended_accounts AS
 SELECT accounts.id
   FROM sluice.accounts
  WHERE accounts.suspended;

ALTER TABLE ONLY sluice.attempts ATTACH PARTITION sluice.attempts_19700101_20261203 FOR VALUES FROM ('msg_00000000000000000000000000') TO ('msg_01m8wk6t000000000000000000');

ALTER TABLE ONLY sluice.attempts ATTACH PARTITION sluice.attempts_after FOR VALUES FROM ('msg_01m8wk6t000000000000000000') TO (MAXVALUE);

ALTER TABLE ONLY sluice.attempts ATTACH PARTITION sluice.attempts_before FOR VALUES FROM (MINVALUE) TO ('msg_00000000000000000000000000');

ALTER TABLE ONLY sluice.messages ATTACH PARTITION sluice.messages_19700101_20261203 FOR VALUES FROM ('msg_00000000000000000000000000') TO ('msg_01m8wk6t000000000000000000');

ALTER TABLE ONLY sluice.messages ATTACH PARTITION sluice.messages_after FOR VALUES FROM ('msg_01m8wk6t000000000000000000') TO (MAXVALUE);

ALTER TABLE ONLY sluice.messages ATTACH PARTITION sluice.messages_before FOR VALUES FROM (MINVALUE) TO ('msg_00000000000000000000000000');

INSERT INTO sluice.migrations VALUES ('accounts/0001-baseline', '2026-11-25 16:42:43.34712+00');
INSERT INTO sluice.migrations VALUES ('rate-limiting/0001-baseline', '2026-11-25 16:42:43.407101+00');
INSERT INTO sluice.migrations VALUES ('messages/0001-baseline', '2026-11-25 16:42:43.436069+00');
INSERT INTO sluice.migrations VALUES ('delivery/0001-baseline', '2026-11-25 16:42:43.583595+00');
INSERT INTO sluice.migrations VALUES ('webhooks/0001-baseline', '2026-11-25 16:42:43.716138+00');
INSERT INTO sluice.migrations VALUES ('events/0001-baseline', '2026-11-25 16:42:43.776144+00');
INSERT INTO sluice.migrations VALUES ('upkeep/0001-baseline', '2026-11-25 16:42:43.823532+00');

INSERT INTO sluice.reconciler VALUES ('2026-11-25 16:42:43.823532+00', '', 0, 0);

SELECT pg_catalog.setval('sluice.events_id_seq', 1, false);

SELECT pg_catalog.setval('sluice.outbox_id_seq', 1, false);

ALTER TABLE ONLY sluice.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);

ALTER TABLE ONLY sluice.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (message_id, number);

ALTER TABLE ONLY sluice.attempts_19700101_20261203
    ADD CONSTRAINT attempts_19700101_20261203_pkey PRIMARY KEY (message_id, number);

ALTER TABLE ONLY sluice.attempts_after
    ADD CONSTRAINT attempts_after_pkey PRIMARY KEY (message_id, number);

ALTER TABLE ONLY sluice.attempts_before
    ADD CONSTRAINT attempts_before_pkey PRIMARY KEY (message_id, number);

ALTER TABLE ONLY sluice.ended_endpoints
    ADD CONSTRAINT ended_endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.endpoint_deliveries
    ADD CONSTRAINT endpoint_deliveries_pkey PRIMARY KEY (message_id, endpoint_id);

ALTER TABLE ONLY sluice.endpoints
    ADD CONSTRAINT endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.event_streams
    ADD CONSTRAINT event_streams_pkey PRIMARY KEY (account_id, place);

ALTER TABLE ONLY sluice.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (xid, id);

ALTER TABLE ONLY sluice.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, key);

ALTER TABLE ONLY sluice.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (name);

ALTER TABLE ONLY sluice.kept_responses
    ADD CONSTRAINT kept_responses_pkey PRIMARY KEY (scope, key_hash);

ALTER TABLE ONLY sluice.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.messages_19700101_20261203
    ADD CONSTRAINT messages_19700101_20261203_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.messages_after
    ADD CONSTRAINT messages_after_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.messages_before
    ADD CONSTRAINT messages_before_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY sluice.offences
    ADD CONSTRAINT offences_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY sluice.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sluice.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY sluice.storage
    ADD CONSTRAINT storage_pkey PRIMARY KEY (account_id, day);

CREATE INDEX accounts_suspended ON sluice.accounts USING btree (id) WHERE suspended;

CREATE INDEX api_keys_live ON sluice.api_keys USING btree (account_id, COALESCE(expires_at, 'infinity'::timestamp with time zone)) WHERE (revoked_at IS NULL);

CREATE INDEX api_keys_unrevoked ON sluice.api_keys USING btree (account_id, id) WHERE (revoked_at IS NULL);

CREATE INDEX attempts_delivered ON ONLY sluice.attempts USING btree (account_id, ended_at) WHERE (outcome = 'delivered'::text);

CREATE INDEX attempts_19700101_20261203_account_id_ended_at_idx ON sluice.attempts_19700101_20261203 USING btree (account_id, ended_at) WHERE (outcome = 'delivered'::text);

CREATE INDEX attempts_after_account_id_ended_at_idx ON sluice.attempts_after USING btree (account_id, ended_at) WHERE (outcome = 'delivered'::text);

CREATE INDEX attempts_before_account_id_ended_at_idx ON sluice.attempts_before USING btree (account_id, ended_at) WHERE (outcome = 'delivered'::text);

CREATE INDEX endpoint_deliveries_failed ON sluice.endpoint_deliveries USING btree (endpoint_id, message_id) WHERE (due_at IS NULL);

CREATE INDEX endpoint_deliveries_pending ON sluice.endpoint_deliveries USING btree (ready, endpoint_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX endpoint_deliveries_waiting ON sluice.endpoint_deliveries USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (NOT ready));

CREATE INDEX endpoints_by_account ON sluice.endpoints USING btree (account_id, id);

CREATE INDEX events_by_account ON sluice.events USING btree (account_id, id, xid);

CREATE INDEX idempotency_keys_by_age ON sluice.idempotency_keys USING btree (stored_at);

CREATE INDEX kept_responses_by_age ON sluice.kept_responses USING btree (stored_at);

CREATE INDEX messages_available ON ONLY sluice.messages USING btree (account_id, available_at, id) WHERE (available_at IS NOT NULL);

CREATE INDEX messages_19700101_20261203_account_id_available_at_id_idx ON sluice.messages_19700101_20261203 USING btree (account_id, available_at, id) WHERE (available_at IS NOT NULL);

CREATE INDEX messages_queued ON ONLY sluice.messages USING btree (account_id, COALESCE(deliver_at, created_at)) WHERE (status = 'queued'::text);

CREATE INDEX messages_19700101_20261203_account_id_coalesce_idx ON sluice.messages_19700101_20261203 USING btree (account_id, COALESCE(deliver_at, created_at)) WHERE (status = 'queued'::text);

CREATE INDEX messages_by_status ON ONLY sluice.messages USING btree (account_id, status, id);

CREATE INDEX messages_19700101_20261203_account_id_status_id_idx ON sluice.messages_19700101_20261203 USING btree (account_id, status, id);

CREATE INDEX messages_open_handler ON ONLY sluice.messages USING btree (id) WHERE ((status = ANY (ARRAY['queued'::text, 'processing'::text])) AND (delivery = 'handler'::text));

CREATE INDEX messages_19700101_20261203_id_idx ON sluice.messages_19700101_20261203 USING btree (id) WHERE ((status = ANY (ARRAY['queued'::text, 'processing'::text])) AND (delivery = 'handler'::text));

CREATE INDEX messages_open_webhooks ON ONLY sluice.messages USING btree (id) WHERE ((status = ANY (ARRAY['queued'::text, 'processing'::text])) AND (delivery = 'webhooks'::text));

CREATE INDEX messages_19700101_20261203_id_idx1 ON sluice.messages_19700101_20261203 USING btree (id) WHERE ((status = ANY (ARRAY['queued'::text, 'processing'::text])) AND (delivery = 'webhooks'::text));

CREATE INDEX messages_after_account_id_available_at_id_idx ON sluice.messages_after USING btree (account_id, available_at, id) WHERE (available_at IS NOT NULL);

CREATE INDEX messages_after_account_id_coalesce_idx ON sluice.messages_after USING btree (account_id, COALESCE(deliver_at, created_at)) WHERE (status = 'queued'::text);

CREATE INDEX messages_after_account_id_status_id_idx ON sluice.messages_after USING btree (account_id, status, id);

CREATE INDEX messages_after_id_idx ON sluice.messages_after USING btree (id) WHERE ((status = ANY (ARRAY['queued'::text, 'processing'::text])) AND (delivery = 'handler'::text));

CREATE INDEX messages_after_id_idx1 ON sluice.messages_after USING btree (id) WHERE ((status = ANY (ARRAY['queued'::text, 'processing'::text])) AND (delivery = 'webhooks'::text));

CREATE INDEX messages_before_account_id_available_at_id_idx ON sluice.messages_before USING btree (account_id, available_at, id) WHERE (available_at IS NOT NULL);

CREATE INDEX messages_before_account_id_coalesce_idx ON sluice.messages_before USING btree (account_id, COALESCE(deliver_at, created_at)) WHERE (status = 'queued'::text);

CREATE INDEX messages_before_account_id_status_id_idx ON sluice.messages_before USING btree (account_id, status, id);

CREATE INDEX messages_before_id_idx ON sluice.messages_before USING btree (id) WHERE ((status = ANY (ARRAY['queued'::text, 'processing'::text])) AND (delivery = 'handler'::text));

CREATE INDEX messages_before_id_idx1 ON sluice.messages_before USING btree (id) WHERE ((status = ANY (ARRAY['queued'::text, 'processing'::text])) AND (delivery = 'webhooks'::text));

CREATE INDEX offences_by_account ON sluice.offences USING btree (account_id, key_id);

CREATE INDEX outbox_due ON sluice.outbox USING btree (due_at, id);

CREATE INDEX outbox_suspended ON sluice.outbox USING btree (suspended_account) WHERE (suspended_account IS NOT NULL);

ALTER INDEX sluice.attempts_delivered ATTACH PARTITION sluice.attempts_19700101_20261203_account_id_ended_at_idx;

ALTER INDEX sluice.attempts_pkey ATTACH PARTITION sluice.attempts_19700101_20261203_pkey;

ALTER INDEX sluice.attempts_delivered ATTACH PARTITION sluice.attempts_after_account_id_ended_at_idx;

ALTER INDEX sluice.attempts_pkey ATTACH PARTITION sluice.attempts_after_pkey;

ALTER INDEX sluice.attempts_delivered ATTACH PARTITION sluice.attempts_before_account_id_ended_at_idx;

ALTER INDEX sluice.attempts_pkey ATTACH PARTITION sluice.attempts_before_pkey;

ALTER INDEX sluice.messages_available ATTACH PARTITION sluice.messages_19700101_20261203_account_id_available_at_id_idx;

ALTER INDEX sluice.messages_queued ATTACH PARTITION sluice.messages_19700101_20261203_account_id_coalesce_idx;

ALTER INDEX sluice.messages_by_status ATTACH PARTITION sluice.messages_19700101_20261203_account_id_status_id_idx;

ALTER INDEX sluice.messages_open_handler ATTACH PARTITION sluice.messages_19700101_20261203_id_idx;

ALTER INDEX sluice.messages_open_webhooks ATTACH PARTITION sluice.messages_19700101_20261203_id_idx1;

ALTER INDEX sluice.messages_pkey ATTACH PARTITION sluice.messages_19700101_20261203_pkey;

ALTER INDEX sluice.messages_available ATTACH PARTITION sluice.messages_after_account_id_available_at_id_idx;

ALTER INDEX sluice.messages_queued ATTACH PARTITION sluice.messages_after_account_id_coalesce_idx;

ALTER INDEX sluice.messages_by_status ATTACH PARTITION sluice.messages_after_account_id_status_id_idx;

ALTER INDEX sluice.messages_open_handler ATTACH PARTITION sluice.messages_after_id_idx;

ALTER INDEX sluice.messages_open_webhooks ATTACH PARTITION sluice.messages_after_id_idx1;

ALTER INDEX sluice.messages_pkey ATTACH PARTITION sluice.messages_after_pkey;

ALTER INDEX sluice.messages_available ATTACH PARTITION sluice.messages_before_account_id_available_at_id_idx;

ALTER INDEX sluice.messages_queued ATTACH PARTITION sluice.messages_before_account_id_coalesce_idx;

ALTER INDEX sluice.messages_by_status ATTACH PARTITION sluice.messages_before_account_id_status_id_idx;

ALTER INDEX sluice.messages_open_handler ATTACH PARTITION sluice.messages_before_id_idx;

ALTER INDEX sluice.messages_open_webhooks ATTACH PARTITION sluice.messages_before_id_idx1;

ALTER INDEX sluice.messages_pkey ATTACH PARTITION sluice.messages_before_pkey;

CREATE TRIGGER account_changed BEFORE UPDATE OF plan, per_minute, per_day, suspended, delivery ON sluice.accounts FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();

CREATE TRIGGER endpoint_changed AFTER INSERT OR DELETE OR UPDATE OF enabled ON sluice.endpoints FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch_of_endpoint();

CREATE TRIGGER endpoint_ended AFTER DELETE OR UPDATE OF enabled ON sluice.endpoints FOR EACH ROW EXECUTE FUNCTION sluice.note_end_of_endpoint();

CREATE TRIGGER key_changed AFTER DELETE OR UPDATE OF account_id, hash, scopes, expires_at, revoked_at ON sluice.api_keys FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();

CREATE TRIGGER messages_added AFTER INSERT ON sluice.messages REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION sluice.record_events();

CREATE TRIGGER messages_changed AFTER UPDATE ON sluice.messages REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION sluice.record_events();

ALTER TABLE ONLY sluice.api_keys
    ADD CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES sluice.accounts(id);

ALTER TABLE ONLY sluice.endpoints
    ADD CONSTRAINT endpoints_account_id_fkey FOREIGN KEY (account_id) REFERENCES sluice.accounts(id);

REVOKE ALL ON FUNCTION sluice.add_period(begins text, ends text, low text, high text) FROM PUBLIC;

REVOKE ALL ON FUNCTION sluice.empty_period(begins text, ends text, low text, high text) FROM PUBLIC;

REVOKE ALL ON FUNCTION sluice.remove_period(begins text, ends text, high text) FROM PUBLIC;

CREATE INDEX sluice_running_jobs ON bullmq.job USING btree (queue, locked_until_ms DESC) WHERE (state = 'active'::bullmq.job_state);
CREATE INDEX sluice_stalled_jobs ON bullmq.job USING btree (queue) WHERE stalled_marked;
