import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

const BACKLOG = 3_000;

it('The backlog of one account does not delay a message of another', async () => {
  const fleet = await Fleet.start();
  const messages = Array.from({ length: 1_000 }, (_, index) => `of many ${index}`);
  for (let sent = 0; sent < BACKLOG; sent += 1_000) await fleet.client.sendBatch(fleet.account, { messages });
  const hasJobs = (count: number) => async () => (await fleet.sql('SELECT FROM bullmq.job')).length === count;
  await until(hasJobs(BACKLOG), 30_000);
  const { id } = await fleet.client.sent(await fleet.client.signUp(), { message: 'of few' });
  await until(hasJobs(BACKLOG + 1), 10_000);
  await fleet.worker({ WORKER_CONCURRENCY: '5' });
  await until(() => fleet.began(id, 1), 30_000);
  const before = fleet.handled().findIndex((call) => call.id === id);
  process.stdout.write(`${before} of ${BACKLOG} messages were handled before the one of another account\n`);
  expect(before).toBeLessThan(BACKLOG / 10);
  await fleet.stop();
}, 90_000);
