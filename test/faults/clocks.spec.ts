import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet } from '../support/fleet.js';
import { inTime } from '../support/http.js';
import { SHIFTED_CLOCK, until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const HOUR_MS = 3_600_000;
jest.setTimeout(300_000);

describe('Clocks that are moved forward and back by an hour, under load from 32 clients', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.startForLoad({ ...SHIFTED_CLOCK, HANDLER_MS: '10', WORKER_LOCK_MS: '5000', WORKER_RATE: '50' });
    await Promise.all([fleet.worker(), fleet.worker()]);
    await fleet.load({ perSecond: 10 });
  });

  afterAll(() => fleet.stop());

  describe.each(new Rounds().all)('%s', () => {
    it('of the API: idempotency keys and windows do not change', async () => {
      const headers = { 'idempotency-key': `repeated-${Math.random()}` };
      const repeated = () => fleet.client.sent(fleet.account, { headers });
      const first = await repeated();
      for (const shift of [25 * HOUR_MS, -HOUR_MS, 0]) {
        await fleet.api.setClock(shift);
        expect(await repeated()).toEqual(first);
        const response = await inTime(() => fleet.client.ask(fleet.account));
        expect(response.status).toBe(200);
        const resets = [...(response.headers.ratelimit ?? '').matchAll(/t=(\d+)/g)].map(([, t]) => Number(t));
        expect(resets[0]).toBeLessThanOrEqual(60);
        expect(resets[1]).toBeLessThanOrEqual(86_400);
        await fleet.going(20);
      }
    });

    it('of one of two workers while deliveries take eight seconds: it takes over none of the other', async () => {
      const [, worker] = fleet.workers;
      const slow = await Promise.all(Array.from({ length: 20 }, () => fleet.send('wait 8000')));
      const matching = (condition: string) =>
        fleet.sql(`SELECT id, status, crashes FROM sluice.messages WHERE id = ANY ($1) AND (${condition})`, [slow]);
      await worker?.setClock(HOUR_MS);
      await until(() => worker?.output.includes('clock differs') === true, 40_000);
      await until(async () => (await matching(`status IN ('queued', 'processing')`)).length === 0, 140_000);
      expect(await matching(`crashes > 1 OR status <> 'delivered'`)).toEqual([]);
      await worker?.setClock(-HOUR_MS);
      await fleet.going(20);
      await worker?.setClock(0);
      await until(() => worker?.output.includes('the clock is right again') === true, 40_000);
    });

    it('of the workers for half a second, with a rate limit: deliveries go on', async () => {
      for (const worker of fleet.workers) await worker.setClock(HOUR_MS);
      await fleet.going(5);
      await sleep(500);
      for (const worker of fleet.workers) await worker.setClock(0);
      await Promise.all(Array.from({ length: 100 }, () => fleet.send('hello')));
      await until(fleet.has(await fleet.send('hello'), 'delivered'));
    });

    it('of the workers during a failing attempt: the retry is not delayed', async () => {
      const failing = await fleet.send('throw 2000');
      const attempts = async () => (await fleet.message(failing)).attempts;
      await until(async () => (await attempts()) === 1, 140_000);
      for (const worker of fleet.workers) await worker.setClock(HOUR_MS);
      await until(fleet.has(failing, 'queued'), 140_000);
      for (const worker of fleet.workers) await worker.setClock(0);
      await until(async () => (await attempts()) > 1, 140_000);
    });
  });

  it('break no guarantee', async () => {
    expect(await fleet.violations()).toEqual([]);
  });
});
