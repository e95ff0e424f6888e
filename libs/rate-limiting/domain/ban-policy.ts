/* Repeated by `sluice.take_hits`, which decides about requests: a change here needs one there. See docs/adr/0013. */

import type { Limits } from '#kernel/limits.js';
import { WINDOW_MS } from './windows.js';

export interface BanPolicy {
  /** Milliseconds after the first refusal in a window; refusals until then are no strikes. */
  readonly graceMs: number;
  /** Strikes within a minute that cause a ban; a tenth of the account's limit per minute if that is more. */
  readonly afterRefusals: number;
  /** Milliseconds of the first ban within a day. Each further one is twice as long, up to `maxBanMs`. */
  readonly banMs: number;
  readonly maxBanMs: number;
}

/** The refusals, strikes and bans of a key. Times are Unix milliseconds, 0 for never. */
export interface Offences {
  /** The end of the window that refuses the key, and the end of the grace that the first refusal in it began. */
  readonly refusingWindowEndsAt: number;
  readonly strikesFrom: number;
  /** Strikes within a minute, and the end of that minute. */
  readonly strikes: number;
  readonly strikesEndAt: number;
  /** The number of successive bans that each began less than a day after the previous one. */
  readonly bans: number;
  readonly bannedAt: number;
  readonly bannedUntil: number;
  readonly reason: string | null;
}

const NONE: Offences = {
  ...{ refusingWindowEndsAt: 0, strikesFrom: 0, strikes: 0, strikesEndAt: 0 },
  ...{ bans: 0, bannedAt: 0, bannedUntil: 0, reason: null },
};

/** Refusals of a key at one moment. */
export interface Refusals {
  readonly count: number;
  /** The end of the window that refuses. */
  readonly windowEndsAt: number;
  /** Earlier strikes, reported late. */
  readonly lateStrikes: number;
}

interface StrikeResult {
  readonly offences: Offences;
  /** How many of the refusals came before the ban. */
  readonly spared: number;
}

/** Strikes that cause a ban. */
export function strikesToBan(policy: BanPolicy, limits: Limits): number {
  return Math.max(policy.afterRefusals, Math.floor(limits.perMinute / 10));
}

/** A clock that goes back must not lengthen a ban: it ends at most `maxBanMs` from now. */
export function bannedUntil(offences: Offences | null, policy: BanPolicy, at: number): number {
  return Math.min(offences?.bannedUntil ?? 0, at + policy.maxBanMs);
}

/**
 * Counts refusals of a key that is not banned as strikes, and bans it when there are too many.
 * @param at Unix milliseconds
 */
export function strike(
  known: Offences | null,
  { count, windowEndsAt, lateStrikes }: Refusals,
  limits: Limits,
  policy: BanPolicy,
  at: number,
): StrikeResult {
  const offences = known ?? NONE;
  const isFirst = count > 0 && known?.refusingWindowEndsAt !== windowEndsAt;
  const grace = isFirst
    ? { refusingWindowEndsAt: windowEndsAt, strikesFrom: at + policy.graceMs }
    : { refusingWindowEndsAt: offences.refusingWindowEndsAt, strikesFrom: offences.strikesFrom };
  const isGrace = at < grace.strikesFrom;
  const minute = minuteOf(offences, at);
  const earlier = minute.strikes + lateStrikes;
  const strikes = earlier + (isGrace ? 0 : count);
  const toBan = strikesToBan(policy, limits);
  if (strikes < toBan) {
    return { offences: { ...offences, ...grace, strikes, strikesEndAt: minute.strikesEndAt }, spared: count };
  }
  const bans = offences.bannedAt > at - WINDOW_MS.day ? offences.bans + 1 : 1;
  return {
    offences: {
      ...grace,
      ...{ strikes: 0, strikesEndAt: 0, bans, bannedAt: at },
      bannedUntil: at + Math.min(policy.banMs * 2 ** Math.min(bans - 1, 30), policy.maxBanMs),
      reason: `${strikes} requests within a minute after the limit was exceeded`,
    },
    spared: isGrace ? count : Math.min(count, Math.max(0, toBan - 1 - earlier)),
  };
}

/**
 * The minute in which strikes are added up. It begins with the first strike and ends at most a minute from now, even if
 * the clock has gone back.
 */
function minuteOf({ strikes, strikesEndAt }: Offences, at: number): Pick<Offences, 'strikes' | 'strikesEndAt'> {
  const endsAt = at + WINDOW_MS.minute;
  return strikesEndAt <= at
    ? { strikes: 0, strikesEndAt: endsAt }
    : { strikes, strikesEndAt: Math.min(strikesEndAt, endsAt) };
}
