import { Fleet } from '../support/fleet.js';
import { metricsOf } from '../support/metrics.js';
import { until } from '../support/processes.js';

describe('A worker that', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    // Longer than a healthy worker stands still on a busy machine.
    fleet = await Fleet.start({ WORKER_LOCK_MS: '5000' });
  });
  afterEach(() => Promise.all(fleet.workers.map((worker) => worker.kill())));
  afterAll(() => fleet.stop());

  const attempts = (id: string) =>
    fleet
      .handled()
      .filter((call) => call.id === id)
      .map(({ attempt }) => attempt);
  const hasJobs = (count: number) => async () => (await fleet.sql('SELECT FROM bullmq.job')).length === count;

  it('is killed during a delivery: another takes it over', async () => {
    const first = await fleet.worker();
    const id = await fleet.send('wait 6000');
    await until(() => fleet.began(id, 1));
    first.signal('SIGKILL');
    await fleet.worker();
    // Sooner than BullMQ's defaults allow, with which it takes a minute.
    await until(fleet.has(id, 'delivered'));
    expect(attempts(id)).toEqual([1, 2]);
    expect(await fleet.message(id)).toMatchObject({ status: 'delivered', attempts: 2, failureReason: null });
    expect(await fleet.census()).toBe(0);
  });

  it('is stopped while a handler outlasts its grace: another goes on at once, and it counts as no crash', async () => {
    const first = await fleet.worker({ SHUTDOWN_GRACE_MS: '200', WORKER_LOCK_MS: '60000' });
    const id = await fleet.send('wait 3000');
    await until(() => fleet.began(id, 1));
    first.signal('SIGTERM');
    expect(await first.ended()).toBe(0);
    expect(await fleet.message(id)).toMatchObject({ status: 'queued', attempts: 1, failureReason: 'worker_stopped' });
    expect(await fleet.census()).toBe(0);
    await fleet.worker();
    await until(fleet.has(id, 'delivered'));
    expect(await fleet.sql('SELECT attempts, failures, crashes FROM sluice.messages WHERE id = $1', [id])).toEqual([
      { attempts: 2, failures: 0, crashes: 0 },
    ]);
  });

  it('is stopped beyond its lock: it changes nothing when it wakes after another has delivered', async () => {
    const sleeper = await fleet.worker();
    const id = await fleet.send('wait 6000');
    await until(() => fleet.began(id, 1));
    sleeper.signal('SIGSTOP');
    await fleet.worker();
    await until(fleet.has(id, 'delivered'));
    const before = await fleet.message(id);
    sleeper.signal('SIGCONT');
    const url = await sleeper.managementUrl();
    const lost = 'sluice_deliveries_total{outcome="lost_claim"}';
    await until(async () => (await metricsOf(url)).get(lost) === 1);
    expect(await fleet.message(id)).toEqual(before);
    expect(before.attempts).toBe(2);
    expect(attempts(id)).toEqual([1, 2]);
  });

  it('dies between the final status and the completion of the job: the handler is not called again', async () => {
    const id = await fleet.send('once');
    await until(hasJobs(1));
    await fleet.sql(`UPDATE sluice.messages SET status = 'delivered', attempts = 1 WHERE id = $1`, [id]);
    await fleet.sql(
      `UPDATE bullmq.job SET state = 'active', lock_token = 'lost', locked_until_ms = 1, processed_by = 'sluice'`,
    );
    await fleet.worker();
    await until(hasJobs(0));
    expect(attempts(id)).toEqual([]);
    expect(await fleet.message(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  });
});
