import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

const BACKLOG = 3_000;

describe('the backlog of one account', () => {
  it('does not hold up a message of another', async () => {
    const fleet = await Fleet.start();
    try {
      const headers = { authorization: `Bearer ${fleet.apiKey}`, 'content-type': 'application/json' };
      const messages = Array.from({ length: 1_000 }, (_, index) => ({ message: `of many ${index}` }));
      for (let sent = 0; sent < BACKLOG; sent += 1_000) {
        const body = JSON.stringify({ messages });
        await fetch(`${fleet.api.url}/messages/batch`, { method: 'POST', headers, body });
      }
      const jobs = async () => (await fleet.sql('SELECT FROM bullmq.job')).length;
      await until(async () => (await jobs()) === BACKLOG, 30_000);
      const other = await fleet.signUp();
      const id = await fleet.send('of few', undefined, other);
      await until(async () => (await jobs()) === BACKLOG + 1, 10_000);
      await fleet.worker({ WORKER_CONCURRENCY: '5' });
      await until(() => fleet.handled().some((call) => call.id === id), 30_000);
      const before = fleet.handled().findIndex((call) => call.id === id);
      process.stdout.write(`${before} of ${BACKLOG} messages were handled before the one of another account\n`);
      expect(before).toBeLessThan(BACKLOG / 10);
    } finally {
      await fleet.stop();
    }
  }, 90_000);
});
