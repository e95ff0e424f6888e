const WINDOWS = 'libs/rate-limiting/domain/windows.ts';
const WINDOWS_SPEC = 'libs/rate-limiting/domain/windows.spec.ts';
const BANS = 'libs/rate-limiting/domain/ban-policy.ts';
const BANS_SPEC = 'libs/rate-limiting/domain/ban-policy.spec.ts';
const TAKE_HITS = 'libs/rate-limiting/adapters/postgres/migrations/0002-plans.sql';
const TAKE_HITS_SPEC = 'test/contracts/take-hits.spec.ts';
const STORE = 'libs/rate-limiting/adapters/postgres/postgres-limiter.ts';
const STORE_SPEC = 'test/contracts/limiter.spec.ts';
const CACHE = 'libs/rate-limiting/application/refusal-cache.ts';
const CACHE_SPEC = 'libs/rate-limiting/application/refusal-cache.spec.ts';
const GUARD = 'libs/rate-limiting/adapters/http/plan-throttler.guard.ts';
const EARLY = 'libs/rate-limiting/adapters/http/early-plan-check.ts';
const EARLY_SPEC = 'libs/rate-limiting/adapters/http/early-plan-check.spec.ts';
const WINDOW = 'libs/kernel/rate-limit-window.ts';
const HEADERS_SPEC = 'libs/platform/http/access/rate-limit-headers.spec.ts';
const BUDGET = 'libs/platform/http/access/address-budget.ts';
const BUDGET_SPEC = 'libs/platform/http/access/address-budget.spec.ts';

export default [
  {
    what: 'a batch that does not fit is told that all requests are used up',
    file: GUARD,
    find: 'throw refusalError(counted, reason);',
    replace: 'throw refusalError(counted);',
    tests: ['test/e2e/post-messages-batch/429.spec.ts'],
  },
  {
    what: 'a lifted ban holds for longer when its recheck was stale',
    file: STORE,
    find: '        this.refusals.abandonRecheck(call.hit);\n',
    replace: '',
    tests: [STORE_SPEC],
  },
  {
    what: 'a window admits one request too many',
    file: TAKE_HITS,
    find: 'least(h.count, h.per_minute - minute_used, h.per_day - day_used)',
    replace: 'least(h.count, h.per_minute - minute_used + 1, h.per_day - day_used)',
    tests: [TAKE_HITS_SPEC],
  },
  {
    what: 'a window moves on with each request',
    file: TAKE_HITS,
    find: 'IF v_minute_ends = 0 THEN v_minute_ends := v_now + 60000; END IF;',
    replace: 'v_minute_ends := v_now + 60000;',
    tests: [TAKE_HITS_SPEC],
  },
  {
    what: 'refused requests count',
    file: TAKE_HITS,
    find: 'minute_used := minute_used + admitted;',
    replace: 'minute_used := minute_used + h.count;',
    tests: [TAKE_HITS_SPEC],
  },
  {
    what: 'a batch is admitted in part',
    file: TAKE_HITS,
    find: 'IF h.whole AND admitted < h.count THEN admitted := 0; END IF;',
    replace: '',
    tests: [TAKE_HITS_SPEC],
  },
  {
    what: 'a refused batch is as many strikes as it has messages',
    file: TAKE_HITS,
    find: 'least(h.count - admitted, CASE WHEN h.whole THEN 1 ELSE h.count END)',
    replace: 'h.count - admitted',
    tests: [TAKE_HITS_SPEC],
  },
  {
    what: 'refusals within the grace are strikes',
    file: TAKE_HITS,
    find: 'h.strikes + CASE WHEN v_now >= o.strikes_from_ms THEN v_refused ELSE 0 END',
    replace: 'h.strikes + v_refused',
    tests: [TAKE_HITS_SPEC],
  },
  {
    what: 'a second ban is not longer',
    file: TAKE_HITS,
    find: 'THEN o.bans + 1 ELSE 1 END',
    replace: 'THEN 1 ELSE 1 END',
    tests: [TAKE_HITS_SPEC],
  },
  {
    what: 'a clock that goes back lengthens a window',
    file: TAKE_HITS,
    find: 'least(r.minute_ends_ms, v_now + 60000)',
    replace: 'r.minute_ends_ms',
    tests: [TAKE_HITS_SPEC],
  },
  {
    what: 'an outdated epoch is admitted',
    file: TAKE_HITS,
    find: 'a.epoch <> u.epoch AND u.epoch <> -1',
    replace: 'a.epoch < u.epoch AND u.epoch <> -1',
    tests: [STORE_SPEC],
  },
  {
    what: 'the rules in TypeScript end a window a millisecond late',
    file: WINDOWS,
    find: 'if (window.endsAt <= at)',
    replace: 'if (window.endsAt < at)',
    tests: [WINDOWS_SPEC],
  },
  {
    what: 'of two windows that refuse, the earlier end counts',
    file: WINDOWS,
    find: 'return Math.max(\n    minute.used',
    replace: 'return Math.min(\n    minute.used',
    tests: [WINDOWS_SPEC],
  },
  {
    what: 'each refusal begins another grace',
    file: BANS,
    find: 'count > 0 && known?.refusingWindowEndsAt !== windowEndsAt',
    replace: 'count > 0',
    tests: [BANS_SPEC],
  },
  {
    what: 'a large account is banned like a small one',
    file: BANS,
    find: 'Math.max(policy.afterRefusals, Math.floor(limits.perMinute / 10))',
    replace: 'Math.max(policy.afterRefusals, limits.perMinute / 1_000)',
    tests: [BANS_SPEC],
  },
  {
    what: 'a ban is longer than the longest one',
    file: BANS,
    find: 'Math.min(policy.banMs * 2 ** Math.min(bans - 1, 30), policy.maxBanMs)',
    replace: 'policy.banMs * 2 ** Math.min(bans - 1, 30)',
    tests: [BANS_SPEC],
  },
  {
    what: 'requests that are decided together get the same remaining number',
    file: 'libs/rate-limiting/application/verdicts.ts',
    find: 'count === 1 ? outcome.admitted - place - 1 : 0',
    replace: '0',
    tests: ['libs/rate-limiting/application/verdicts.spec.ts'],
  },
  {
    what: 'requests before the strike that bans are told of the ban',
    file: 'libs/rate-limiting/application/verdicts.ts',
    find: 'outcome.banLeftMs > 0 && !spared',
    replace: 'outcome.banLeftMs > 0',
    tests: ['libs/rate-limiting/application/verdicts.spec.ts'],
  },
  {
    what: 'a cached refusal outlives a new plan',
    file: CACHE,
    find: 'if (account?.epoch !== epoch || retried !== 1) return null;',
    replace: 'if (account === undefined || epoch < 0 || retried !== 1) return null;',
    tests: [CACHE_SPEC],
  },
  {
    what: 'a cached refusal is never checked again',
    file: CACHE,
    find: 'if (now >= account.recheckAt) return null;',
    replace: '',
    tests: [CACHE_SPEC],
  },
  {
    what: 'a cached refusal outlives its window',
    file: CACHE,
    find: 'if (account.refusedUntil <= now) return null;',
    replace: '',
    tests: [CACHE_SPEC],
  },
  {
    what: 'strikes are reported twice',
    file: CACHE,
    find: 'key.pending = 0;',
    replace: '',
    tests: [CACHE_SPEC],
  },
  {
    what: 'the strikes that wait are lost when a process stops',
    file: STORE,
    find: 'await this.report(this.refusals.takeAllStrikes());',
    replace: '',
    tests: [STORE_SPEC],
  },
  {
    what: 'to show the usage counts as a request',
    file: STORE,
    find: 'take(stored, limits, 0, at)',
    replace: 'take(stored, limits, 1, at)',
    tests: [STORE_SPEC],
  },
  {
    what: 'windows that have not ended are deleted',
    file: STORE,
    find: 'BETWEEN 1 AND ${NOW_MS} - 86400000',
    replace: 'BETWEEN 1 AND ${NOW_MS} + 86400000',
    tests: [STORE_SPEC],
  },
  {
    what: 'bans that are over are listed',
    file: 'libs/rate-limiting/adapters/postgres/postgres-bans.ts',
    find: 'WHERE banned_until_ms > ${NOW_MS} AND ($2',
    replace: 'WHERE banned_until_ms > 0 AND ($2',
    tests: ['test/e2e/admin/bans.spec.ts'],
  },
  {
    what: 'a batch counts one message more than it has',
    file: GUARD,
    find: 'count: more, retried: more + 1 }',
    replace: 'count: more + 1 }',
    tests: ['test/e2e/post-messages-batch/429.spec.ts'],
  },
  {
    what: 'a refused batch is told to return when only its rest fits',
    file: GUARD,
    find: 'retried: more + 1 }',
    replace: 'retried: more }',
    tests: ['test/e2e/limits/windows.spec.ts'],
  },
  {
    what: 'a batch as large as the limit is refused for ever',
    file: 'libs/rate-limiting/domain/batch-fit.ts',
    find: 'if (messages <= limit) return;',
    replace: 'if (messages < limit) return;',
    tests: ['test/e2e/post-messages-batch/429.spec.ts'],
  },
  {
    what: 'a key that was revoked meanwhile is tried for ever',
    file: 'libs/rate-limiting/application/count-request.ts',
    find: "if (lookups === MAX_LOOKUPS) throw new DomainError('unavailable', 'Could not verify the API key. Retry later.');",
    replace: "if (lookups === 1e3 * MAX_LOOKUPS) return { kind: 'invalid' };",
    tests: ['libs/rate-limiting/adapters/http/plan-throttler.guard.spec.ts'],
  },
  {
    what: 'an anonymous request is not counted',
    file: EARLY,
    find: 'const { passes, window } = this.anonymous.take(clientAddress);',
    replace: 'const [passes, window] = [true, this.anonymous.peek(clientAddress)];',
    tests: [EARLY_SPEC],
  },
  {
    what: 'a public route is closed to an address whose budget is not used up',
    file: EARLY,
    find: '!this.needsKey(originalUrl, method) && this.anonymous',
    replace: 'originalUrl === method && this.anonymous',
    tests: [EARLY_SPEC],
  },
  {
    what: 'the headers show the window with more requests left',
    file: WINDOW,
    find: 'one.remaining > shown.remaining) continue;',
    replace: 'one.remaining < shown.remaining) continue;',
    tests: [HEADERS_SPEC],
  },
  {
    what: 'of two windows with as many requests left, the headers show the one that resets first',
    file: WINDOW,
    find: 'one.resetsAt > shown.resetsAt',
    replace: 'one.resetsAt < shown.resetsAt',
    tests: [HEADERS_SPEC],
  },
  {
    what: 'Retry-After is a second too short',
    file: WINDOW,
    find: 'Math.max(1, Math.ceil(ms / 1_000))',
    replace: 'Math.max(1, Math.floor(ms / 1_000))',
    tests: [HEADERS_SPEC],
  },
  {
    what: 'each address of an IPv6 network has a budget of its own',
    file: 'libs/platform/http/access/client-address.ts',
    find: 'prefix = 64)',
    replace: 'prefix = 128)',
    tests: [BUDGET_SPEC],
  },
  {
    what: 'each /64 of a /48 has a budget of its own',
    file: BUDGET,
    find: 'return [counter, this.counter(networkOf(address, WIDE_IPV6_PREFIX), this.limit * WIDE_FACTOR)];',
    replace: 'return [counter];',
    tests: [BUDGET_SPEC],
  },
  {
    what: 'the budget of an address has one request too many',
    file: BUDGET,
    find: 'used < limit);',
    replace: 'used <= limit);',
    tests: [BUDGET_SPEC],
  },
  {
    what: 'limits that were agreed with an account hold although its plan has its own',
    file: TAKE_HITS,
    find: 'CASE WHEN p.individual THEN coalesce(a.per_minute, p.per_minute) ELSE p.per_minute END',
    replace: 'coalesce(a.per_minute, p.per_minute)',
    tests: ['test/e2e/admin/plans.spec.ts'],
  },
  {
    what: 'every operator has the name of the first one',
    file: 'libs/platform/http/access/secret.ts',
    find: 'return this.keys.find(({ secret }) => secret.matches(presented))?.name;',
    replace: 'return this.keys.some(({ secret }) => secret.matches(presented)) ? this.keys[0]?.name : undefined;',
    tests: [EARLY_SPEC],
  },
];
