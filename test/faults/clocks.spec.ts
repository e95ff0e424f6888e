import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment } from '../support/deployment.js';
import { until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const HOUR_MS = 3_600_000;
const rounds = new Rounds();

describe('Clocks that are set ahead and back by an hour, under load from 32 callers', () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start({
      workers: 2,
      clocks: true,
      settings: { HANDLER_MS: '10', WORKER_LOCK_MS: '5000' },
    });
    await deployment.load({ perSecond: 10 });
  }, 300_000);

  afterAll(async () => {
    await deployment.stop();
  }, 300_000);

  const sent = async (message: string) => {
    const response = await deployment.send(message);
    expect(response.status).toBe(202);
    return ((await response.json()) as { id: string }).id;
  };
  const status = async (id: string) =>
    (await deployment.database.sql<{ status: string }>('SELECT status FROM sluice.messages WHERE id = $1', [id]))[0]
      ?.status;
  const open = async (ids: string[]) => {
    const rows = await deployment.database.sql(
      `SELECT FROM sluice.messages WHERE id = ANY ($1) AND status IN ('queued', 'processing')`,
      [ids],
    );
    return rows.length;
  };
  const limited = () =>
    fetch(`${deployment.api.url}/account`, { headers: { authorization: `Bearer ${deployment.apiKey}` } });

  describe.each(rounds.all)('%s', () => {
    it('of the API: keys, windows and repetitions stay as they were', async () => {
      const key = `repeated-${Math.random()}`;
      const repeated = async () => (await (await deployment.send('hello', deployment.api, key)).json()) as object;
      const first = await repeated();
      for (const shift of [HOUR_MS, -HOUR_MS, 0]) {
        deployment.api.setClock(shift);
        await sleep(100);
        expect(await repeated()).toEqual(first);
        const response = await limited();
        expect(response.status).toBe(200);
        const [minute, day] = [...(response.headers.get('ratelimit') ?? '').matchAll(/t=(\d+)/g)].map(([, t]) =>
          Number(t),
        );
        expect(minute).toBeLessThanOrEqual(60);
        expect(day).toBeLessThanOrEqual(86_400);
        await deployment.going(20);
      }
    }, 300_000);

    it('of one of two workers, while messages take eight seconds: none is taken away from the other', async () => {
      const [, worker] = deployment.workers;
      const slow = await Promise.all(Array.from({ length: 20 }, () => sent('wait 8000')));
      worker?.setClock(HOUR_MS);
      await until(() => worker?.output.includes('clock differs') === true, 40_000);
      await until(async () => (await open(slow)) === 0, 140_000);
      expect(
        await deployment.database.sql(
          `SELECT id, status, crashes FROM sluice.messages WHERE id = ANY ($1) AND (crashes > 1 OR status <> 'delivered')`,
          [slow],
        ),
      ).toEqual([]);
      worker?.setClock(-HOUR_MS);
      await deployment.going(20);
      worker?.setClock(0);
      await until(() => worker?.output.includes('the clock is right again') === true, 40_000);
    }, 300_000);

    it('of the workers, while an attempt fails: it is repeated as if no clock had been wrong', async () => {
      const failing = await sent('throw 2000');
      const attempts = async () => {
        const [row] = await deployment.database.sql<{ attempts: number }>(
          'SELECT attempts FROM sluice.messages WHERE id = $1',
          [failing],
        );
        return row?.attempts ?? 0;
      };
      await until(async () => (await attempts()) === 1, 140_000);
      for (const worker of deployment.workers) worker.setClock(HOUR_MS);
      await until(async () => (await status(failing)) === 'queued', 140_000);
      for (const worker of deployment.workers) worker.setClock(0);
      await until(async () => (await attempts()) > 1, 140_000);
    }, 300_000);
  });

  it('break no promise', async () => {
    expect(await deployment.violations()).toEqual([]);
  }, 200_000);
});
