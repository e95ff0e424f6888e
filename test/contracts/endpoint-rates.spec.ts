import { PostgresEndpoints } from '#webhooks/adapters/postgres/postgres-endpoints.js';
import { WebhookStore } from './webhook-store.js';

describe('Endpoints.takeRate', () => {
  let webhooks: WebhookStore;
  let endpoints: PostgresEndpoints;
  let id: string;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
    endpoints = await PostgresEndpoints.open(webhooks.process.database);
  });
  beforeEach(async () => {
    await webhooks.reset();
    id = await webhooks.endpoint(await webhooks.account());
  });
  afterAll(() => webhooks.close());

  const limit = (rate: number) =>
    webhooks.store.sql('UPDATE sluice.endpoints SET rate_limit_per_second = $2 WHERE id = $1', [id, rate]);
  /** As if this time had passed, in milliseconds. */
  const pass = (ms: number) =>
    webhooks.store.sql(`UPDATE sluice.endpoints SET rate_second = rate_second - $2 * interval '1 ms' WHERE id = $1`, [
      ...[id, ms],
    ]);
  const take = async (wanted: number) => (await endpoints.takeRate(new Map([[id, wanted]]))).get(id);

  it.each([1, 2, 5, 9, 19, 20, 39, 100, 1_000, 10_000])(
    'grants at most %i a second, whenever it begins, and nearly as many',
    async (rate) => {
      await limit(rate);
      const grants: { readonly after: number; readonly before: number; readonly count: number }[] = [];
      let passed = 0;
      const now = () => performance.now() + passed;
      const begunAt = now();
      while (now() < begunAt + 3_000) {
        const after = now();
        const { count = 0, emptyInMs = 0 } = (await take(rate)) ?? {};
        grants.push({ after, before: now(), count });
        const step = Math.min(50, emptyInMs);
        await pass(step);
        passed += step;
      }
      const sum = (some: typeof grants) => some.reduce((total, { count }) => total + count, 0);
      for (const { after } of grants) {
        const second = grants.filter((grant) => grant.after >= after && grant.before < after + 1_000);
        expect(sum(second)).toBeLessThanOrEqual(rate);
      }
      // On a busy machine it asks less often.
      expect(sum(grants)).toBeGreaterThan(2 * rate);
    },
  );

  it('grants no more to several processes at once', async () => {
    await limit(1);
    const counts = await Promise.all(Array.from({ length: 20 }, async () => (await take(1))?.count ?? 0));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1);
  });

  it('grants what fits when the limit was lowered, raised or removed meanwhile', async () => {
    await limit(10_000);
    expect((await take(10_000))?.count).toBe(500);
    await limit(1);
    expect((await take(1))?.count).toBe(0);
    await pass(600_000);
    expect((await take(5))?.count).toBe(1);
    await limit(10_000);
    expect((await take(10_000))?.count).toBeGreaterThan(490);
    await limit(0);
    expect((await take(1))?.count).toBe(0);
  });

  it('grants nothing for an endpoint that does not exist', async () => {
    expect((await endpoints.takeRate(new Map([['ep_unknown', 1]]))).size).toBe(0);
  });
});
