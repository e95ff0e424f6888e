import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment } from '../support/deployment.js';
import { until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const HOUR_MS = 3_600_000;
jest.setTimeout(300_000);

describe('Clocks that are moved forward and back by an hour, under load from 32 clients', () => {
  let deployment: Deployment;

  beforeAll(async () => {
    const settings = { HANDLER_MS: '10', WORKER_LOCK_MS: '5000' };
    deployment = await Deployment.start({ workers: 2, clocks: true, settings });
    await deployment.load({ perSecond: 10 });
  });

  afterAll(() => deployment.stop());

  describe.each(new Rounds().all)('%s', () => {
    it('of the API: idempotency keys and windows do not change', async () => {
      const key = `repeated-${Math.random()}`;
      const repeated = async () => (await (await deployment.send('hello', deployment.api, key)).json()) as object;
      const first = await repeated();
      for (const shift of [HOUR_MS, -HOUR_MS, 0]) {
        deployment.api.setClock(shift);
        await sleep(100);
        expect(await repeated()).toEqual(first);
        const response = await deployment.request('GET /account');
        expect(response.status).toBe(200);
        const resets = [...(response.headers.get('ratelimit') ?? '').matchAll(/t=(\d+)/g)].map(([, t]) => Number(t));
        expect(resets[0]).toBeLessThanOrEqual(60);
        expect(resets[1]).toBeLessThanOrEqual(86_400);
        await deployment.going(20);
      }
    });

    it('of one of two workers while deliveries take eight seconds: it takes over none of the other', async () => {
      const [, worker] = deployment.workers;
      const slow = await Promise.all(Array.from({ length: 20 }, () => deployment.sent('wait 8000')));
      const matching = (condition: string) =>
        deployment.database.sql(
          `SELECT id, status, crashes FROM sluice.messages WHERE id = ANY ($1) AND (${condition})`,
          [slow],
        );
      worker?.setClock(HOUR_MS);
      await until(() => worker?.output.includes('clock differs') === true, 40_000);
      await until(async () => (await matching(`status IN ('queued', 'processing')`)).length === 0, 140_000);
      expect(await matching(`crashes > 1 OR status <> 'delivered'`)).toEqual([]);
      worker?.setClock(-HOUR_MS);
      await deployment.going(20);
      worker?.setClock(0);
      await until(() => worker?.output.includes('the clock is right again') === true, 40_000);
    });

    it('of the workers during a failing attempt: the retry is not delayed', async () => {
      const failing = await deployment.sent('throw 2000');
      const attempts = async () => (await deployment.stored(failing))?.attempts ?? 0;
      await until(async () => (await attempts()) === 1, 140_000);
      for (const worker of deployment.workers) worker.setClock(HOUR_MS);
      await until(async () => (await deployment.stored(failing))?.status === 'queued', 140_000);
      for (const worker of deployment.workers) worker.setClock(0);
      await until(async () => (await attempts()) > 1, 140_000);
    });
  });

  it('break no guarantee', async () => {
    expect(await deployment.violations()).toEqual([]);
  });
});
