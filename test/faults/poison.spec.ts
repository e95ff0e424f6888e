import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

let fleet: Fleet;
afterEach(() => fleet.stop());

it('A message that kills its worker each time fails with worker_lost, and fifty others are delivered', async () => {
  fleet = await Fleet.start();
  const poison = await fleet.send('die');
  const others = await Promise.all(Array.from({ length: 50 }, () => fleet.send('wait 100')));

  let worker = fleet.startWorker();
  const supervision = new AbortController();
  const supervise = async (): Promise<void> => {
    await worker.ended(180_000);
    if (supervision.signal.aborted) return;
    worker = fleet.startWorker();
    await supervise();
  };
  const supervised = supervise();
  const open = `SELECT FROM sluice.messages WHERE status IN ('queued', 'processing')`;
  await until(
    async () => (await fleet.sql(open)).length === 0,
    120_000,
    () => worker.output,
  );
  supervision.abort();
  worker.signal('SIGKILL');
  await supervised;

  expect(await fleet.message(poison)).toMatchObject({ status: 'failed', failureReason: 'worker_lost' });
  for (const id of others) expect(await fleet.message(id)).toMatchObject({ status: 'delivered' });
  expect(await fleet.census()).toBe(0);
}, 200_000);
