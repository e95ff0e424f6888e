import { bannedUntil, strike, type BanPolicy, type Offences } from './ban-policy.js';

const POLICY: BanPolicy = { graceMs: 2_000, afterRefusals: 3, banMs: 10_000, maxBanMs: 35_000 };
const LIMITS = { perMinute: 10, perDay: 100 };
const NOW = 1_800_000_000_000;
const WINDOW_END = NOW + 50_000;

/** Refuses a key once at each moment, in milliseconds from now. */
function refuse(moments: readonly number[], known: Offences | null = null, limits = LIMITS): Offences {
  const offences = moments.reduce<Offences | null>(
    (before, ms) => strike(before, refusals(1), limits, POLICY, NOW + ms).offences,
    known,
  );
  if (offences === null) throw new Error('Nothing was refused.');
  return offences;
}

const refusals = (count: number, lateStrikes = 0, windowEndsAt = WINDOW_END) => ({ count, windowEndsAt, lateStrikes });
const banOf = (offences: Offences) => offences.bannedUntil - offences.bannedAt;

describe('Strikes', () => {
  it('are refusals after the grace that the first refusal in a window begins', () => {
    const offences = refuse([0, 1_000, 1_999]);
    expect(offences).toMatchObject({ strikes: 0, strikesFrom: NOW + 2_000 });
    expect(refuse([2_000, 3_000], offences).strikes).toBe(2);
    const next = strike(offences, refusals(1, 0, WINDOW_END + 60_000), LIMITS, POLICY, NOW + 60_000);
    expect(next.offences.strikesFrom).toBe(NOW + 62_000);
  });

  it('are forgotten a minute after the first of them', () => {
    const offences = refuse([0, 2_000, 3_000]);
    expect(refuse([59_999], offences).bannedUntil).toBeGreaterThan(0);
    expect(refuse([60_000], offences)).toMatchObject({ strikes: 1, bannedUntil: 0 });
  });

  it('ban the key when there are enough, or a tenth of the limit per minute if that is more', () => {
    expect(refuse([0, 2_000, 2_001])).toMatchObject({ strikes: 2, bannedUntil: 0 });
    const banned = refuse([0, 2_000, 2_001, 2_002]);
    expect(banned).toMatchObject({ strikes: 0, bannedAt: NOW + 2_002, bannedUntil: NOW + 12_002 });
    expect(banned.reason).toBe('3 requests within a minute after the limit was exceeded');
    const large = { perMinute: 59, perDay: 100 };
    expect(refuse([0, 2_000, 2_001, 2_002, 2_003], null, large).bannedUntil).toBe(0);
    expect(refuse([0, 2_000, 2_001, 2_002, 2_003, 2_004], null, large).bannedUntil).toBeGreaterThan(0);
  });

  it('spare the refusals before the ban, also those that are reported late', () => {
    const offences = refuse([0, 2_000]);
    expect(strike(offences, refusals(5), LIMITS, POLICY, NOW + 2_001).spared).toBe(1);
    expect(strike(offences, refusals(5, 1), LIMITS, POLICY, NOW + 2_001).spared).toBe(0);
    const late = strike(refuse([0]), refusals(4, 3), LIMITS, POLICY, NOW + 1);
    expect([late.spared, banOf(late.offences)]).toEqual([4, 10_000]);
  });

  it('bring bans that double within a day of the last one, up to the longest', () => {
    let offences = refuse([0]);
    const lengths = [10_000, 100_000, 200_000, 300_000, 300_000 + 86_400_000].map((ms) => {
      offences = strike(offences, refusals(3), LIMITS, POLICY, NOW + ms).offences;
      return banOf(offences);
    });
    expect(lengths).toEqual([10_000, 20_000, 35_000, 35_000, 10_000]);
  });

  it('are forgotten, and their ban ends, in time also after the clock went back', () => {
    const offences = refuse([0, 2_000, 3_000]);
    expect(refuse([-1_000_000], offences).strikesEndAt).toBe(NOW - 940_000);
    const banned = refuse([0, 2_000, 2_001, 2_002]);
    expect(bannedUntil(banned, POLICY, NOW - 1_000_000)).toBe(NOW - 965_000);
  });
});
