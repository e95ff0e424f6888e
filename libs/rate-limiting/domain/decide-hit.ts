import type { Limits } from '#kernel/limits.js';
import { bannedUntil, strike, strikesToBan, type BanPolicy, type Offences } from './ban-policy.js';
import { refusedUntil, take, WINDOW_MS, type Windows } from './windows.js';

/** The windows of an account and the offences of one of its keys. */
interface LimiterState {
  readonly windows: Windows;
  readonly offences: Offences | null;
}

/** Requests of one key at one moment. */
export interface Requests {
  readonly count: number;
  /** Whether they are admitted together or not at all; their refusal is one strike then. */
  readonly whole: boolean;
  /** Earlier strikes of the key, reported late. */
  readonly strikes: number;
}

/** The decision about requests, and the state after it. */
export interface HitOutcome extends Limits {
  /** How many of the requests are admitted. */
  readonly admitted: number;
  readonly minuteUsed: number;
  /** Milliseconds until the window ends; its length when it has counted nothing yet. */
  readonly minuteLeftMs: number;
  readonly dayUsed: number;
  readonly dayLeftMs: number;
  readonly strikes: number;
  /** Strikes that cause a ban. */
  readonly banAfter: number;
  /** Milliseconds until refusals are strikes. */
  readonly strikesInMs: number;
  /** How many of the refused requests came before the ban. */
  readonly spared: number;
  /** Milliseconds until the ban ends; 0 without one. */
  readonly banLeftMs: number;
}

/**
 * The rules of the limiter. PostgreSQL repeats them where they must be atomic, in `sluice.take_hits`; a property test
 * compares both.
 * @param at Unix milliseconds; the time of an earlier decision may be later
 */
export function decideHit(
  { windows, offences }: LimiterState,
  { count, whole, strikes }: Requests,
  limits: Limits,
  policy: BanPolicy,
  at: number,
): { readonly state: LimiterState; readonly outcome: HitOutcome } {
  const isBanned = bannedUntil(offences, policy, at) > at;
  const taken = take(windows, limits, isBanned ? 0 : count, at, whole);
  const left = isBanned ? 0 : count - taken.admitted;
  const refused = whole ? Math.min(left, 1) : left;
  const windowEndsAt = refusedUntil(taken.windows, limits, whole ? count : 1);
  const struck =
    !isBanned && (refused > 0 || strikes > 0)
      ? strike(offences, { count: refused, windowEndsAt, lateStrikes: strikes }, limits, policy, at)
      : { offences, spared: 0 };
  const { minute, day } = taken.windows;
  return {
    state: { windows: taken.windows, offences: struck.offences },
    outcome: {
      ...limits,
      admitted: taken.admitted,
      minuteUsed: minute.used,
      minuteLeftMs: minute.endsAt === 0 ? WINDOW_MS.minute : minute.endsAt - at,
      dayUsed: day.used,
      dayLeftMs: day.endsAt === 0 ? WINDOW_MS.day : day.endsAt - at,
      strikes: struck.offences?.strikes ?? 0,
      banAfter: strikesToBan(policy, limits),
      strikesInMs: Math.max(0, (struck.offences?.strikesFrom ?? 0) - at),
      spared: struck.spared,
      banLeftMs: Math.max(0, bannedUntil(struck.offences, policy, at) - at),
    },
  };
}

/** Milliseconds until `count` more requests may be admitted, by an outcome that has just been decided. */
export function refusedForMs(outcome: HitOutcome, count: number): number {
  const minute = { used: outcome.minuteUsed, endsAt: outcome.minuteLeftMs };
  const day = { used: outcome.dayUsed, endsAt: outcome.dayLeftMs };
  return refusedUntil({ minute, day }, outcome, count);
}
