-- Decides on all hits that wait at one moment. The rules are those of libs/rate-limiting/domain/; a property test compares
-- both. The rows of all accounts are locked first, in one order, so that calls cannot deadlock. The clock is read after
-- that, so that a call that waited counts in the windows that are open by then. All rows are read by one statement and
-- stored by another: a statement for each costs more than the decision on it. A connection keeps its query plans: a join
-- of another kind, planned while the tables are small, would still read all of them when they are large. Each call reads
-- the limits of the accounts' plans, so that a change of a plan is one row, whatever the number of its accounts.
CREATE OR REPLACE FUNCTION sluice.take_hits(
  p_accounts text[], p_keys text[], p_epochs bigint[], p_counts integer[], p_whole boolean[], p_strikes integer[],
  p_grace_ms bigint, p_ban_after integer, p_ban_ms bigint, p_max_ban_ms bigint
) RETURNS TABLE (
  ordinal bigint, stale boolean, admitted integer, per_minute integer, per_day integer,
  minute_used integer, minute_left_ms bigint, day_used integer, day_left_ms bigint,
  strikes integer, ban_after integer, strikes_in_ms bigint, spared integer, ban_left_ms bigint
) LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
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
    SELECT u.*,
           CASE WHEN p.individual THEN coalesce(a.per_minute, p.per_minute) ELSE p.per_minute END AS per_minute,
           CASE WHEN p.individual THEN coalesce(a.per_day, p.per_day) ELSE p.per_day END AS per_day,
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
    LEFT JOIN sluice.plans p ON p.name = a.plan
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
