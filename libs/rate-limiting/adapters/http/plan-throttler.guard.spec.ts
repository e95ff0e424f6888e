import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AddressBudget } from '#platform/http/access/address-budget.js';
import type { Caller } from '#kernel/caller.js';
import { CountRequest } from '../../application/count-request.js';
import type { Hit, Limiter, Verdict } from '../../application/limiter.js';
import { PlanThrottlerGuard } from './plan-throttler.guard.js';
import { PlanThrottlerStorage } from './plan-throttler-storage.js';

const WINDOW = { name: 'minute', windowSeconds: 60, limit: 10, remaining: 9, resetsAt: 60_000 };
const ADMITTED: Verdict = { kind: 'admitted', windows: [WINDOW] };
const STALE: Verdict = { kind: 'stale' };
const callerOf = (epoch: number, suspended = false): Caller => {
  return { accountId: 'acct_1', keyId: 'key_1', scopes: [], epoch, suspended, delivery: 'handler' };
};

/** A guard whose store has these verdicts, one after another, and whose keys are looked up as these callers. */
function setUp(verdicts: readonly Verdict[], found: readonly (Caller | null)[] = []) {
  const hits: Hit[] = [];
  const decisions: string[] = [];
  const [verdict, lookup] = [verdicts.values(), found.values()];
  const limiter = {
    hit: (hit: Hit) => (hits.push(hit), Promise.resolve(verdict.next().value ?? STALE)),
    lastKnownWindows: () => null,
  };
  const refresh = () => Promise.resolve(lookup.next().value ?? null);
  const anonymous = new AddressBudget('anonymous', 10, 60);
  const guard = new PlanThrottlerGuard(
    { throttlers: [] },
    new PlanThrottlerStorage(limiter as unknown as Limiter),
    new Reflector(),
    new CountRequest({ recall: () => null }, { refresh }, () => 0),
    { anonymous, operators: anonymous },
    (decision) => decisions.push(decision),
  );
  const request = { clientAddress: '192.0.2.1', caller: callerOf(1), presentedKey: 'slc_x', rateLimit: [WINDOW] };
  const count = (more: number) => guard.countMore(request as unknown as FastifyRequest, more);
  return { count, hits, decisions, request, anonymous };
}

describe('The messages of a batch after the first', () => {
  it.each([
    [0, []],
    [1, [1]],
    [9, [9]],
  ])('count as so many further requests: %i', async (more, counts) => {
    const { count, hits } = setUp([ADMITTED]);
    await count(more);
    expect(hits.map((hit) => hit.count)).toEqual(counts);
    expect(hits.map(({ retried }) => retried)).toEqual(counts.map((count) => count + 1));
  });

  it('fit into the lowest limit, or are refused without being counted', async () => {
    const { count, hits } = setUp([ADMITTED]);
    await expect(count(10)).rejects.toMatchObject({ code: 'batch_exceeds_limit' });
    expect(hits).toEqual([]);
  });

  it('are counted for the key as it is now', async () => {
    const { count, hits, decisions } = setUp([STALE, ADMITTED], [callerOf(2)]);
    await count(3);
    expect(hits.map(({ epoch }) => epoch)).toEqual([1, 2]);
    expect(decisions).toEqual(['admitted']);
  });

  it.each([
    ['revoked', [STALE], [null], 'unauthorized'],
    ['suspended', [STALE, ADMITTED], [callerOf(2, true)], 'account_suspended'],
    ['refused', [{ kind: 'refused', windows: [WINDOW], retryInMs: 1 } as const], [], 'rate_limit_exceeded'],
    ['banned', [{ kind: 'banned', windows: [WINDOW], retryInMs: 1 } as const], [], 'api_key_banned'],
  ])('are refused when the key has been %s meanwhile', async (_how, verdicts, found, code) => {
    await expect(setUp(verdicts, found).count(3)).rejects.toMatchObject({ code });
  });

  it('count for the address once the key has been revoked', async () => {
    const { count, anonymous, request } = setUp([STALE], [null]);
    await expect(count(3)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(anonymous.peek(request.clientAddress).remaining).toBe(9);
  });

  it('are unavailable when the key changes faster than it can be looked up', async () => {
    const { count, hits } = setUp(
      [],
      Array.from({ length: 50 }, (_, epoch) => callerOf(epoch)),
    );
    await expect(count(3)).rejects.toMatchObject({ code: 'unavailable' });
    expect(hits.length).toBeLessThan(10);
  });
});
