import { writeFileSync } from 'node:fs';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

let fleet: Fleet;
afterEach(() => fleet.stop());

const BLOCKING = "export default async ({ message }) => { if (message === 'block') for (;;); };";

it.each([
  ['kills', 'die', () => fleet.startWorker()],
  [
    'blocks',
    'block',
    () => {
      const file = fleet.file('blocking.mjs');
      writeFileSync(file, BLOCKING);
      return fleet.startWorker({ HANDLER: file, ATTEMPT_TIMEOUT_MS: '1000' }, 'dist/apps/worker/main.js');
    },
  ],
])(
  'A message that %s its worker each time fails with worker_lost, and fifty others are delivered',
  async (_what, text, start) => {
    fleet = await Fleet.start();
    const poison = await fleet.send(text);
    const others = await Promise.all(Array.from({ length: 50 }, () => fleet.send('wait 100')));

    let worker = start();
    const supervision = new AbortController();
    const supervise = async (): Promise<void> => {
      await worker.ended(180_000);
      if (supervision.signal.aborted) return;
      worker = start();
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
  },
  200_000,
);
