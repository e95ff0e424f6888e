import type { RateLimitWindow } from '#platform/http/rate-limit-headers.js';
import { WINDOW_MS } from '../../windows.js';

export const TAKE_HITS = `
  SELECT ordinal::int, stale, admitted, per_minute, per_day, minute_used, minute_left_ms::float8, day_used,
         day_left_ms::float8, strikes, ban_after, strikes_in_ms::float8, spared, ban_left_ms::float8
  FROM sluice.take_hits($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** What `sluice.take_hits` says of one row of hits. All but the first two are null when they are stale. */
export interface HitResult {
  readonly ordinal: number;
  readonly stale: boolean;
  readonly admitted: number;
  readonly per_minute: number;
  readonly per_day: number;
  readonly minute_used: number;
  readonly minute_left_ms: number;
  readonly day_used: number;
  readonly day_left_ms: number;
  readonly strikes: number;
  /** Strikes that bring a ban. */
  readonly ban_after: number;
  /** Milliseconds until refusals count as strikes. */
  readonly strikes_in_ms: number;
  /** Of those refused, how many came before the ban. */
  readonly spared: number;
  readonly ban_left_ms: number;
}

/**
 * @param later requests of the same call that were counted after the one that is told
 * @param agoMs milliseconds since the result was true
 */
export function windowsOf(result: HitResult, later = 0, agoMs = 0): RateLimitWindow[] {
  const window = (name: keyof typeof WINDOW_MS, limit: number, used: number, leftMs: number): RateLimitWindow => ({
    name,
    windowSeconds: WINDOW_MS[name] / 1_000,
    limit,
    remaining: Math.max(0, limit - used + later),
    resetsInMs: Math.max(1, leftMs - agoMs),
  });
  return [
    window('minute', result.per_minute, result.minute_used, result.minute_left_ms),
    window('day', result.per_day, result.day_used, result.day_left_ms),
  ];
}

/** Milliseconds until `count` requests may pass: until the window without room for them ends, the later of two. */
export function refusedForMs(result: HitResult, count: number): number {
  return Math.max(
    result.minute_used + count > result.per_minute ? result.minute_left_ms : 0,
    result.day_used + count > result.per_day ? result.day_left_ms : 0,
  );
}
