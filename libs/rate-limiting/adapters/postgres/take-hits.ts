import type { HitOutcome } from '../../domain/decide-hit.js';

export const TAKE_HITS = `
  SELECT ordinal::int, stale, admitted, per_minute AS "perMinute", per_day AS "perDay",
         minute_used AS "minuteUsed", minute_left_ms::float8 AS "minuteLeftMs",
         day_used AS "dayUsed", day_left_ms::float8 AS "dayLeftMs",
         strikes, ban_after AS "banAfter", strikes_in_ms::float8 AS "strikesInMs", spared, ban_left_ms::float8 AS "banLeftMs"
  FROM sluice.take_hits($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** A row of `sluice.take_hits`. When it is stale, the outcome's columns are null. */
export interface HitRow extends HitOutcome {
  /** Which of the hits, from 1 on. */
  readonly ordinal: number;
  readonly stale: boolean;
}
