import { Batcher, type BatchObserver } from '#platform/batcher.js';
import type { Database } from '#platform/database/database.js';
import { asUnavailable, isContention } from '#platform/database/errors.js';
import type { RateLimitWindow } from '#platform/http/rate-limit-headers.js';
import {
  PlanThrottlerStorage,
  type Hit,
  type RefusingVerdict,
  type Usage,
  type Verdict,
} from '../../plan-throttler-storage.js';
import { forgetRows, NOW_MS } from './forget-rows.js';
import { Refusals, type Strikes } from './refusals.js';
import { refusedForMs, TAKE_HITS, windowsOf, type HitResult } from './take-hits.js';
import { take } from '../../windows.js';

export interface BanPolicy {
  /** Milliseconds after the first refusal of a window in which further ones are forgiven. */
  readonly graceMs: number;
  /** Strikes within a minute that bring a ban; a tenth of the account's limit per minute if that is more. */
  readonly afterRefusals: number;
  readonly banMs: number;
  readonly maxBanMs: number;
}

/** Hits of one key that are decided over together; or, without any, strikes of a key that are handed over. */
interface Row {
  readonly hit: Hit;
  count: number;
  readonly whole: boolean;
  readonly strikes: number;
}

const FLUSH_EVERY_MS = 100;

/**
 * All hits that wait at one moment travel in one call of a function in the database, those of one key as one row.
 * @param database with asynchronous commit: a crash may forget the counts of its last second, and nothing else
 */
export class PostgresPlanThrottlerStorage extends PlanThrottlerStorage {
  private readonly batcher: Batcher<Hit, Verdict>;
  private readonly refusals = new Refusals();
  private readonly flushTimer: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    private readonly bans: BanPolicy,
    observer?: BatchObserver,
  ) {
    super();
    const limits = { maxItems: 1_000, maxWaiting: 20_000, concurrency: 2, observer };
    this.batcher = new Batcher((hits) => this.decide(hits), limits);
    this.flushTimer = setInterval(
      () => void this.handOver(this.refusals.takeOverdue(performance.now())),
      FLUSH_EVERY_MS,
    );
  }

  recall(hit: Hit): RefusingVerdict | null {
    return this.refusals.recall(hit, performance.now());
  }

  async hit(hit: Hit): Promise<Verdict> {
    const recalled = this.recall(hit);
    if (recalled !== null) return recalled;
    this.refusals.noteAsked(hit, performance.now());
    return this.batcher.submit(hit);
  }

  lastKnownWindows(accountId: string): readonly RateLimitWindow[] | null {
    return this.refusals.lastTold(accountId, performance.now());
  }

  async usage(accountId: string): Promise<Usage> {
    const [row] = await this.database.query<Record<string, number>>(
      `SELECT a.per_minute, a.per_day, coalesce(minute_used, 0) AS minute_used, coalesce(day_used, 0) AS day_used,
              coalesce(minute_ends_ms, 0)::float8 AS minute_ends_ms, coalesce(day_ends_ms, 0)::float8 AS day_ends_ms,
              floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at
       FROM sluice.accounts a LEFT JOIN sluice.rate_limits r ON r.account_id = a.id WHERE a.id = $1`,
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

  // A row of 0 may be one that a hit has just made and is about to count in.
  deleteExpired(): Promise<void> {
    const lapsed = `day_ends_ms BETWEEN 1 AND ${NOW_MS} - 86400000`;
    return forgetRows(this.database, 'sluice.rate_limits', 'account_id', lapsed);
  }

  /** Decides over what waits and hands strikes over. */
  async close(): Promise<void> {
    clearInterval(this.flushTimer);
    await this.batcher.idle();
    await this.handOver(this.refusals.takeAll());
  }

  private async handOver(strikes: Strikes[]): Promise<void> {
    // Strikes that can't be handed over are forgiven: the caller was refused all the same.
    if (strikes.length > 0) await this.ask(strikes.map(rowOf)).catch(() => undefined);
  }

  private async decide(hits: Hit[]): Promise<Verdict[]> {
    const rows = new Map<string, Row>();
    const places = hits.map((hit, index) => {
      const whole = hit.count !== 1;
      const name = whole ? String(index) : `${hit.keyId}/${hit.epoch}`;
      const row = rows.get(name);
      if (row !== undefined) return { name, place: row.count++ };
      rows.set(name, { hit, count: hit.count, whole, strikes: 0 });
      return { name, place: 0 };
    });
    const accounts = [...new Set(hits.map(({ accountId }) => accountId))];
    const strikes = accounts.flatMap((accountId) => this.refusals.takeStrikes(accountId)).map(rowOf);
    const results = (await this.ask([...strikes, ...rows.values()])).slice(strikes.length);
    const byName = new Map([...rows.keys()].map((name, index) => [name, results[index]]));
    return places.map(({ name, place }, index) => verdict(byName.get(name), place, hits[index]?.count ?? 1));
  }

  private async ask(rows: Row[]): Promise<(HitResult | undefined)[]> {
    const values = [
      rows.map(({ hit }) => hit.accountId),
      rows.map(({ hit }) => hit.keyId),
      rows.map(({ hit }) => hit.epoch),
      rows.map(({ count }) => count),
      rows.map(({ whole }) => whole),
      rows.map(({ strikes }) => strikes),
      ...[this.bans.graceMs, this.bans.afterRefusals, this.bans.banMs, this.bans.maxBanMs],
    ];
    const results = await this.database.prepared<HitResult>('take-hits', TAKE_HITS, values).catch((error: unknown) => {
      throw asUnavailable(error, isContention);
    });
    const now = performance.now();
    const ordered: (HitResult | undefined)[] = [];
    for (const result of results) {
      const row = rows[result.ordinal - 1];
      ordered[result.ordinal - 1] = result;
      if (row === undefined || result.stale) continue;
      const refused = !row.whole && result.admitted < row.count && result.ban_left_ms === 0;
      if (row.count === 0) this.refusals.noteHandedOver(row.hit, result, now);
      else this.refusals.note(row.hit, result, refused, now);
    }
    return ordered;
  }
}

// Epoch -1: strikes belong to the key whatever has changed since they were counted.
function rowOf({ accountId, keyId, count: strikes }: Strikes): Row {
  return { hit: { accountId, keyId, epoch: -1, count: 0 }, count: 0, whole: false, strikes };
}

function verdict(result: HitResult | undefined, place: number, count: number): Verdict {
  if (result === undefined || result.stale) return { kind: 'stale' };
  if (count !== 1 ? result.admitted === count : place < result.admitted) {
    return { kind: 'admitted', windows: windowsOf(result, count === 1 ? result.admitted - place - 1 : 0) };
  }
  // Where some requests had room, but not as many as this: nothing remains for it.
  const windows = windowsOf(result).map((one) => (one.remaining < count ? { ...one, remaining: 0 } : one));
  const spared = place - result.admitted < result.spared;
  if (result.ban_left_ms > 0 && !spared) return { kind: 'banned', windows, retryInMs: result.ban_left_ms };
  return { kind: 'refused', windows, retryInMs: refusedForMs(result, count) };
}
