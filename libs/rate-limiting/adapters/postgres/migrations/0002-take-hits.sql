-- Decides on all hits that wait at one moment. The rules are those of libs/rate-limiting/domain/; a property test compares
-- both. Accounts are locked in one order, so that calls cannot deadlock, and the clock is read after the lock, so that a
-- call that waited counts in the window that is open by then.
CREATE FUNCTION sluice.take_hits(
  p_accounts text[], p_keys text[], p_epochs bigint[], p_counts integer[], p_whole boolean[], p_strikes integer[],
  p_grace_ms bigint, p_ban_after integer, p_ban_ms bigint, p_max_ban_ms bigint
) RETURNS TABLE (
  ordinal bigint, stale boolean, admitted integer, per_minute integer, per_day integer,
  minute_used integer, minute_left_ms bigint, day_used integer, day_left_ms bigint,
  strikes integer, ban_after integer, strikes_in_ms bigint, spared integer, ban_left_ms bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  h record;
  a record;
  w sluice.rate_limits;
  v_stored sluice.rate_limits;
  o sluice.offences;
  v_now bigint;
  v_capacity integer;
  v_refused integer;
  v_struck integer;
  v_window_ends bigint;
BEGIN
  FOR h IN
    SELECT * FROM unnest(p_accounts, p_keys, p_epochs, p_counts, p_whole, p_strikes) WITH ORDINALITY
      AS u (account_id, key_id, epoch, count, whole, strikes, ordinal)
    ORDER BY account_id, ordinal
  LOOP
    SELECT * INTO w FROM sluice.rate_limits r WHERE r.account_id = h.account_id FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO sluice.rate_limits (account_id) SELECT id FROM sluice.accounts WHERE id = h.account_id
      ON CONFLICT DO NOTHING;
      SELECT * INTO w FROM sluice.rate_limits r WHERE r.account_id = h.account_id FOR UPDATE;
    END IF;
    v_now := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    SELECT x.per_minute, x.per_day, x.epoch INTO a FROM sluice.accounts x WHERE x.id = h.account_id;
    ordinal := h.ordinal;
    -- -1: late strikes belong to the key whatever has changed since.
    stale := NOT FOUND OR (a.epoch <> h.epoch AND h.epoch <> -1);
    IF stale THEN
      RETURN NEXT;
      CONTINUE;
    END IF;

    v_stored := w;
    IF w.minute_ends_ms <= v_now THEN
      w.minute_used := 0; w.minute_ends_ms := 0;
    END IF;
    IF w.day_ends_ms <= v_now THEN
      w.day_used := 0; w.day_ends_ms := 0;
    END IF;
    -- Needed after the clock went back. Stored below: otherwise the end would move on while a client waits for it.
    w.minute_ends_ms := least(w.minute_ends_ms, v_now + 60000);
    w.day_ends_ms := least(w.day_ends_ms, v_now + 86400000);

    SELECT * INTO o FROM sluice.offences x WHERE x.key_id = h.key_id;
    o.banned_until_ms := least(coalesce(o.banned_until_ms, 0), v_now + p_max_ban_ms);
    admitted := 0;
    v_refused := 0;
    spared := 0;
    IF o.banned_until_ms <= v_now THEN
      v_capacity := greatest(0, least(a.per_minute - w.minute_used, a.per_day - w.day_used));
      admitted := CASE WHEN h.whole AND h.count > v_capacity THEN 0 ELSE least(h.count, v_capacity) END;
      v_refused := CASE WHEN h.whole AND admitted = 0 THEN least(h.count, 1) ELSE h.count - admitted END;
      IF admitted > 0 THEN
        w.minute_used := w.minute_used + admitted;
        w.day_used := w.day_used + admitted;
        IF w.minute_ends_ms = 0 THEN w.minute_ends_ms := v_now + 60000; END IF;
        IF w.day_ends_ms = 0 THEN w.day_ends_ms := v_now + 86400000; END IF;
      END IF;
    END IF;
    IF w IS DISTINCT FROM v_stored THEN
      UPDATE sluice.rate_limits r
      SET minute_used = w.minute_used, minute_ends_ms = w.minute_ends_ms,
          day_used = w.day_used, day_ends_ms = w.day_ends_ms
      WHERE r.account_id = h.account_id;
    END IF;

    ban_after := greatest(p_ban_after, a.per_minute / 10);
    IF v_refused > 0 OR (h.strikes > 0 AND o.banned_until_ms <= v_now) THEN
      IF v_refused > 0 THEN
        -- Of two refusing windows, the one that ends later.
        v_window_ends := greatest(
          CASE WHEN w.minute_used + CASE WHEN h.whole THEN h.count ELSE 1 END > a.per_minute THEN w.minute_ends_ms ELSE 0 END,
          CASE WHEN w.day_used + CASE WHEN h.whole THEN h.count ELSE 1 END > a.per_day THEN w.day_ends_ms ELSE 0 END);
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
        o.strikes_end_ms, coalesce(o.bans, 0), coalesce(o.banned_at_ms, 0), o.banned_until_ms, o.reason
      )
      ON CONFLICT (key_id) DO UPDATE SET
        refusing_window_ends_ms = excluded.refusing_window_ends_ms, strikes_from_ms = excluded.strikes_from_ms,
        strikes = excluded.strikes, strikes_end_ms = excluded.strikes_end_ms, bans = excluded.bans,
        banned_at_ms = excluded.banned_at_ms, banned_until_ms = excluded.banned_until_ms, reason = excluded.reason;
    END IF;

    per_minute := a.per_minute;
    per_day := a.per_day;
    minute_used := w.minute_used;
    minute_left_ms := CASE WHEN w.minute_ends_ms = 0 THEN 60000 ELSE w.minute_ends_ms - v_now END;
    day_used := w.day_used;
    day_left_ms := CASE WHEN w.day_ends_ms = 0 THEN 86400000 ELSE w.day_ends_ms - v_now END;
    strikes := coalesce(o.strikes, 0);
    strikes_in_ms := greatest(0, coalesce(o.strikes_from_ms, 0) - v_now);
    ban_left_ms := greatest(0, o.banned_until_ms - v_now);
    RETURN NEXT;
  END LOOP;
END $$;
