import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

const RETRIES = 600;

let fleet: Fleet;
afterEach(() => fleet.stop());

it('Retries of one account that are due together do not delay a message of another', async () => {
  // A lock that expires on a busy machine would bring the second attempt early.
  fleet = await Fleet.start({ MAX_ATTEMPTS: '2', BACKOFF_MS: '3600000', WORKER_LOCK_MS: '30000' });
  const messages = Array<string>(RETRIES).fill('throw 5');
  expect((await fleet.client.sendBatch(fleet.account, { messages })).status).toBe(202);
  const failing = await fleet.worker({ WORKER_CONCURRENCY: '50' });
  const delayed = `SELECT FROM bullmq.job WHERE state = 'delayed'`;
  await until(async () => (await fleet.sql(delayed)).length === RETRIES, 200_000);
  failing.signal('SIGTERM');
  await failing.ended();

  await fleet.sql('UPDATE sluice.messages SET next_attempt_at = now()');
  await fleet.sql('UPDATE bullmq.job SET process_at_ms = 0');
  await fleet.worker({ WORKER_CONCURRENCY: '5' });
  /** Retries, and the other message. */
  const handled = () => fleet.handled().slice(RETRIES);
  await until(() => handled().length >= 50);
  const [before, sentAt] = [handled().length, performance.now()];
  const { id } = await fleet.client.sent(await fleet.client.signUp(), { message: 'of another' });
  await until(() => fleet.began(id, 1));
  const waitedMs = performance.now() - sentAt;
  const passed = handled().findIndex((call) => call.id === id) - before;
  process.stdout.write(`${passed} of ${RETRIES} retries and ${waitedMs.toFixed()} ms before another's message\n`);
  expect(passed).toBeLessThan(RETRIES / 3);
}, 400_000);
