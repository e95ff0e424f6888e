import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

describe('messages for later', () => {
  it('are delivered when their time has come, although every worker was killed meanwhile', async () => {
    const fleet = await Fleet.start();
    try {
      const first = await fleet.worker();
      const due = [1_000, 2_500, 4_000].map((ms) => new Date(Date.now() + ms));
      const sent = due.map((deliverAt) => fleet.client.sent(fleet.account, { body: { message: 'later', deliverAt } }));
      const ids = (await Promise.all(sent)).map(({ id }) => id);
      expect(await fleet.census()).toBe(0);
      await until(async () => (await fleet.message(ids[0] ?? '')).status === 'delivered', 10_000);
      first.signal('SIGKILL');
      await first.ended();
      const second = fleet.startWorker();
      await second.printed('consuming');
      await until(async () => (await fleet.message(ids[2] ?? '')).status === 'delivered', 15_000);
      const lateMs: number[] = [];
      for (const [index, id] of ids.entries()) {
        const { status, updatedAt } = await fleet.message(id);
        expect(status).toBe('delivered');
        lateMs.push(Date.parse(updatedAt) - (due[index]?.getTime() ?? 0));
      }
      process.stdout.write(`messages for later were late by ${lateMs.join(', ')} ms\n`);
      for (const late of lateMs) {
        expect(late).toBeGreaterThanOrEqual(0);
        expect(late).toBeLessThan(10_000);
      }
      expect(fleet.handled().map(({ id }) => id)).toEqual(ids);
      expect(await fleet.census()).toBe(0);
    } finally {
      await fleet.stop();
    }
  }, 60_000);
});
