import fc from 'fast-check';
import { TAKE_HITS, type HitRow } from '#rate-limiting/adapters/postgres/take-hits.js';
import { decideHit, type HitOutcome, type Requests } from '#rate-limiting/domain/decide-hit.js';
import type { BanPolicy, Offences } from '#rate-limiting/domain/ban-policy.js';
import type { Limits } from '#kernel/limits.js';
import { UNUSED, type Windows } from '#rate-limiting/domain/windows.js';
import type { Hit } from '#rate-limiting/application/limiter.js';
import { LimiterFixture } from '../support/limiter.js';

const START = 1_800_000_000_000;
const DAY_MS = 86_400_000;

const limits = fc.record({
  perMinute: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 50, max: 200 })),
  perDay: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 100, max: 1_000 })),
});

const policy: fc.Arbitrary<BanPolicy> = fc.record({
  graceMs: fc.constantFrom(0, 2_000),
  afterRefusals: fc.integer({ min: 1, max: 15 }),
  banMs: fc.integer({ min: 1, max: 20_000 }),
  maxBanMs: fc.integer({ min: 1, max: 100_000 }),
});

/** A row of a call: requests of one of two keys of one of two accounts, and strikes that are reported late. */
const row = fc.record({
  account: fc.nat(1),
  key: fc.nat(1),
  /** Of the key, compared with the account's; null for strikes, which count in any epoch. */
  ahead: fc.constantFrom(0, 0, 0, null, 1),
  count: fc.oneof({ weight: 4, arbitrary: fc.nat(25) }, { weight: 1, arbitrary: fc.nat(250) }),
  whole: fc.boolean(),
  strikes: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(20) }),
});

/** The clock moves, even back; limits change or bans are lifted; and all hits that wait are decided in one call. */
const step = fc.record({
  move: fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 5_000 }) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 70_000 }) },
    { weight: 2, arbitrary: fc.constantFrom(0, 59_999, 60_000, 60_001, DAY_MS - 1, DAY_MS) },
    { weight: 1, arbitrary: fc.integer({ min: -200_000_000, max: 200_000_000 }) },
  ),
  changed: fc.option(fc.record({ account: fc.nat(1), limits }), { freq: 5 }),
  lifted: fc.option(fc.record({ account: fc.nat(1), key: fc.nat(1) }), { freq: 10 }),
  rows: fc.array(row, { minLength: 1, maxLength: 5 }),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The rules in TypeScript, with what PostgreSQL stores for them. */
class Rules {
  readonly accounts = new Map<string, { limits: Limits; epoch: number; windows: Windows }>();
  readonly offences = new Map<string, Offences>();

  /** One row of `sluice.take_hits`: null when it is stale. */
  decide(hit: Omit<Hit, 'count'>, requests: Requests, policy: BanPolicy, at: number): HitOutcome | null {
    const account = this.accounts.get(hit.accountId);
    if (account === undefined || (account.epoch !== hit.epoch && hit.epoch !== -1)) return null;
    const known = { windows: account.windows, offences: this.offences.get(hit.keyId) ?? null };
    const { state, outcome } = decideHit(known, requests, account.limits, policy, at);
    account.windows = state.windows;
    if (state.offences !== null) this.offences.set(hit.keyId, state.offences);
    return outcome;
  }
}

describe('sluice.take_hits', () => {
  let limiter: LimiterFixture;

  beforeAll(async () => {
    limiter = await LimiterFixture.open();
    const [row] = await limiter.sql<{ text: string }>("SELECT pg_get_functiondef('sluice.take_hits'::regproc) AS text");
    const [before = '', after, ...more] = row?.text.split('clock_timestamp()') ?? [];
    expect([typeof after, more]).toEqual(['string', []]);
    await limiter.sql(`${before}to_timestamp(current_setting('test.now')::bigint / 1000.0)${after ?? ''}`);
  });
  afterAll(() => limiter.close());

  async function walk(policy: BanPolicy, steps: readonly Step[]): Promise<void> {
    const rules = new Rules();
    const ids: string[] = [];
    for (let count = 0; count < 2; count++) {
      const { accountId } = await limiter.account(10, 30);
      rules.accounts.set(accountId, { limits: { perMinute: 10, perDay: 30 }, epoch: 0, windows: UNUSED });
      ids.push(accountId);
    }
    const accountOf = (index: number) => {
      const accountId = ids[index] ?? '';
      const account = rules.accounts.get(accountId);
      if (account === undefined) throw new Error('There is no such account.');
      return { accountId, account };
    };
    const keyOf = (one: { account: number; key: number }) => `${ids[one.account] ?? ''}_key_${one.key}`;
    let now = START;
    for (const { move, changed, lifted, rows } of steps) {
      now += move;
      if (changed !== null) {
        const { accountId, account } = accountOf(changed.account);
        await limiter.change({ accountId }, changed.limits);
        account.limits = changed.limits;
        account.epoch++;
      }
      if (lifted !== null) {
        await limiter.sql('DELETE FROM sluice.offences WHERE key_id = $1', [keyOf(lifted)]);
        rules.offences.delete(keyOf(lifted));
      }
      const hits = rows.map((one) => {
        const { accountId, account } = accountOf(one.account);
        return { accountId, keyId: keyOf(one), epoch: one.ahead === null ? -1 : account.epoch + one.ahead };
      });
      const expected = hits.map((hit, index) => {
        const outcome = rules.decide(hit, rows[index] ?? { count: 0, whole: false, strikes: 0 }, policy, now);
        return outcome ?? 'stale';
      });
      const values = [
        ...(['accountId', 'keyId', 'epoch'] as const).map((name) => hits.map((hit) => hit[name])),
        ...(['count', 'whole', 'strikes'] as const).map((name) => rows.map((one) => one[name])),
        ...[policy.graceMs, policy.afterRefusals, policy.banMs, policy.maxBanMs],
      ];
      await limiter.sql("SELECT set_config('test.now', $1, false)", [String(now)]);
      const decided = await limiter.sql<HitRow & Record<string, unknown>>(`${TAKE_HITS} ORDER BY ordinal`, values);
      expect(decided.map(({ ordinal: _, stale, ...outcome }) => (stale ? 'stale' : outcome))).toEqual(expected);
    }
    const offences = await limiter.sql<{ keyId: string }>(
      `SELECT key_id AS "keyId", refusing_window_ends_ms::float8 AS "refusingWindowEndsAt",
              strikes_from_ms::float8 AS "strikesFrom", strikes, strikes_end_ms::float8 AS "strikesEndAt",
              bans, banned_at_ms::float8 AS "bannedAt", banned_until_ms::float8 AS "bannedUntil", reason
       FROM sluice.offences WHERE account_id = ANY ($1)`,
      [ids],
    );
    expect(new Map(offences.map(({ keyId, ...stored }) => [keyId, stored]))).toEqual(rules.offences);
  }

  it('decides as the rules in TypeScript do, whatever happens', async () => {
    await fc.assert(fc.asyncProperty(policy, fc.array(step, { minLength: 1, maxLength: 20, size: 'max' }), walk), {
      numRuns: 40,
    });
  });
});
