import { PeriodicTask } from '#kernel/periodic-task.js';
import { Batcher, type BatchObserver } from '#platform/concurrency/batcher.js';
import type { Database } from '#platform/database/database.js';
import { asUnavailable, isContention } from '#platform/database/errors.js';
import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import type { HitOutcome } from '../../domain/decide-hit.js';
import type { BanPolicy } from '../../domain/ban-policy.js';
import { take } from '../../domain/windows.js';
import { Limiter, type Hit, type RefusingVerdict, type Usage, type Verdict } from '../../application/limiter.js';
import { RefusalCache, type Strikes } from '../../application/refusal-cache.js';
import { verdictOf } from '../../application/verdicts.js';
import { deleteInSteps, NOW_MS } from './delete-in-steps.js';
import { TAKE_HITS, type HitRow } from './take-hits.js';

/** Single hits of one key, a hit that is admitted as a whole, or late strikes of a key. */
interface Call {
  readonly hit: Hit;
  count: number;
  readonly whole: boolean;
  readonly strikes: number;
}

const REPORT_STRIKES_EVERY_MS = 100;

/**
 * All hits that wait at one moment are decided in one call of `sluice.take_hits`, single hits of one key as one row.
 * @param database with asynchronous commit: a crash may lose the counts of its last second, and nothing else
 */
export class PostgresLimiter extends Limiter {
  private readonly batcher: Batcher<Hit, Verdict>;
  private readonly refusals = new RefusalCache();
  private readonly reports = new PeriodicTask(() => this.report(this.refusals.takeOverdueStrikes(performance.now())));

  constructor(
    private readonly database: Database,
    private readonly bans: BanPolicy,
    observer?: BatchObserver,
  ) {
    super();
    const limits = { maxItems: 1_000, maxWaiting: 20_000, concurrency: 2, observer };
    this.batcher = new Batcher((hits) => this.decide(hits), limits);
    this.reports.start(REPORT_STRIKES_EVERY_MS);
  }

  recall(hit: Hit): RefusingVerdict | null {
    return this.refusals.recall(hit, performance.now());
  }

  async hit(hit: Hit): Promise<Verdict> {
    const recalled = this.recall(hit);
    if (recalled !== null) return recalled;
    this.refusals.startRecheck(hit, performance.now());
    return this.batcher.submit(hit);
  }

  lastKnownWindows(accountId: string): readonly RateLimitWindow[] | null {
    return this.refusals.lastKnownWindows(accountId);
  }

  async usage(accountId: string): Promise<Usage> {
    const [row] = await this.database.query<Record<string, number>>(
      `SELECT a.per_minute, a.per_day, coalesce(minute_used, 0) AS minute_used, coalesce(day_used, 0) AS day_used,
              coalesce(minute_ends_ms, 0)::float8 AS minute_ends_ms, coalesce(day_ends_ms, 0)::float8 AS day_ends_ms,
              floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at
       FROM sluice.account_plans a LEFT JOIN sluice.rate_limits r ON r.account_id = a.id WHERE a.id = $1`,
      [accountId],
    );
    const number = (name: string) => row?.[name] ?? 0;
    const limits = { perMinute: number('per_minute'), perDay: number('per_day') };
    const stored = {
      minute: { used: number('minute_used'), endsAt: number('minute_ends_ms') },
      day: { used: number('day_used'), endsAt: number('day_ends_ms') },
    };
    const at = number('at');
    return { limits, windows: take(stored, limits, 0, at).windows, at };
  }

  // A row of 0 may have just been inserted for a hit that is about to count in it.
  deleteExpired(): Promise<void> {
    const expired = `day_ends_ms BETWEEN 1 AND ${NOW_MS} - 86400000`;
    return deleteInSteps(this.database, 'sluice.rate_limits', 'account_id', expired);
  }

  /** Decides the waiting hits and reports all strikes. */
  async close(): Promise<void> {
    await this.reports.close();
    await this.batcher.idle();
    await this.report(this.refusals.takeAllStrikes());
  }

  private async report(strikes: Strikes[]): Promise<void> {
    // Strikes that can't be reported are dropped: their requests were refused all the same.
    if (strikes.length > 0) await this.call(strikes.map(callOf)).catch(() => undefined);
  }

  private async decide(hits: Hit[]): Promise<Verdict[]> {
    const calls = new Map<string, Call>();
    const places = hits.map((hit, index) => {
      const whole = hit.count !== 1;
      const name = whole ? String(index) : `${hit.keyId}/${hit.epoch}`;
      const call = calls.get(name);
      if (call !== undefined) return { hit, name, place: call.count++ };
      calls.set(name, { hit, count: hit.count, whole, strikes: 0 });
      return { hit, name, place: 0 };
    });
    const accounts = [...new Set(hits.map(({ accountId }) => accountId))];
    const strikes = accounts.flatMap((accountId) => this.refusals.takeStrikes(accountId)).map(callOf);
    const rows = (await this.call([...strikes, ...calls.values()])).slice(strikes.length);
    const now = performance.now();
    const byName = new Map([...calls.keys()].map((name, index) => [name, rows[index]]));
    return places.map(({ hit, name, place }) => verdictOf(byName.get(name) ?? null, place, hit, now));
  }

  /** @returns the outcome of each call, null for one that is stale */
  private async call(calls: Call[]): Promise<(HitOutcome | null)[]> {
    const values = [
      calls.map(({ hit }) => hit.accountId),
      calls.map(({ hit }) => hit.keyId),
      calls.map(({ hit }) => hit.epoch),
      calls.map(({ count }) => count),
      calls.map(({ whole }) => whole),
      calls.map(({ strikes }) => strikes),
      ...[this.bans.graceMs, this.bans.afterRefusals, this.bans.banMs, this.bans.maxBanMs],
    ];
    const rows = await this.database.prepared<HitRow>('take-hits', TAKE_HITS, values).catch((error: unknown) => {
      throw asUnavailable(error, isContention);
    });
    const now = performance.now();
    const outcomes = calls.map((): HitOutcome | null => null);
    for (const { ordinal, stale, ...outcome } of rows) {
      const call = calls[ordinal - 1];
      if (call === undefined) continue;
      if (stale) {
        this.refusals.abandonRecheck(call.hit);
        continue;
      }
      outcomes[ordinal - 1] = outcome;
      const refused = !call.whole && outcome.admitted < call.count && outcome.banLeftMs === 0;
      if (call.count === 0) this.refusals.updateKey(call.hit, outcome, now);
      else this.refusals.update(call.hit, outcome, refused, now);
    }
    return outcomes;
  }
}

// Epoch -1: strikes count for the key even if the account has changed since.
function callOf({ accountId, keyId, count: strikes }: Strikes): Call {
  return { hit: { accountId, keyId, epoch: -1, count: 0 }, count: 0, whole: false, strikes };
}
