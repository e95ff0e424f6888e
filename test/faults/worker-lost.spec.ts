import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

jest.setTimeout(60_000);

describe('A worker that', () => {
  let fleet: Fleet;

  beforeEach(async () => {
    fleet = await Fleet.start();
  });
  afterEach(() => fleet.stop());

  const hasJobs = (count: number) => async () => (await fleet.sql('SELECT FROM bullmq.job')).length === count;

  it('is killed during a delivery: another takes it over within 10 s', async () => {
    const first = await fleet.worker();
    const id = await fleet.send('wait 1500');
    await until(() => fleet.began(id, 1), 5_000);
    first.signal('SIGKILL');
    const lost = Date.now();
    await fleet.worker();
    await until(fleet.has(id, 'delivered'), 20_000);
    expect(Date.now() - lost).toBeLessThan(10_000);
    expect(fleet.handled().map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await fleet.message(id)).toMatchObject({ status: 'delivered', attempts: 2, failureReason: null });
    expect(await fleet.census()).toBe(0);
  });

  it('is stopped while a handler outlasts its grace: another goes on at once, and it counts as no crash', async () => {
    const first = await fleet.worker({ SHUTDOWN_GRACE_MS: '200', WORKER_LOCK_MS: '60000' });
    const id = await fleet.send('wait 2000');
    await until(() => fleet.began(id, 1), 5_000);
    first.signal('SIGTERM');
    expect(await first.ended()).toBe(0);
    expect(await fleet.message(id)).toMatchObject({ status: 'queued', attempts: 1, failureReason: 'worker_stopped' });
    expect(await fleet.census()).toBe(0);
    await fleet.worker();
    await until(fleet.has(id, 'delivered'), 10_000);
    expect(await fleet.sql('SELECT attempts, failures, crashes FROM sluice.messages')).toEqual([
      { attempts: 2, failures: 0, crashes: 0 },
    ]);
  });

  it('is stopped beyond its lock: it changes nothing when it wakes after another has delivered', async () => {
    const sleeper = await fleet.worker();
    const id = await fleet.send('wait 500');
    await until(() => fleet.began(id, 1), 5_000);
    sleeper.signal('SIGSTOP');
    await fleet.worker();
    await until(fleet.has(id, 'delivered'), 20_000);
    const before = await fleet.message(id);
    sleeper.signal('SIGCONT');
    await until(fleet.has(await fleet.send('after'), 'delivered'), 5_000);
    await sleep(1_000);
    expect(await fleet.message(id)).toEqual(before);
    expect(before.attempts).toBe(2);
    expect(fleet.handled().filter((call) => call.id === id)).toHaveLength(2);
  });

  it('dies between the final status and the completion of the job: the handler is not called again', async () => {
    const id = await fleet.send('once');
    await until(hasJobs(1), 5_000);
    await fleet.sql(`UPDATE sluice.messages SET status = 'delivered', attempts = 1`);
    await fleet.sql(
      `UPDATE bullmq.job SET state = 'active', lock_token = 'lost', locked_until_ms = 1, processed_by = 'sluice'`,
    );
    await fleet.worker();
    await until(hasJobs(0), 10_000);
    expect(fleet.handled()).toEqual([]);
    expect(await fleet.message(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('is lost, and whose job a foreign worker that allows no stalls has failed: the job is queued again', async () => {
    const id = await fleet.send('hello');
    await until(hasJobs(1), 5_000);
    await fleet.sql(
      `UPDATE bullmq.job SET deferred_failure = 'job stalled more than allowable limit', stalled_count = 1`,
    );
    await fleet.worker();
    await until(fleet.has(id, 'delivered'), 10_000);
    expect(await fleet.census()).toBe(0);
  });

  it('is killed while its clock is an hour ahead: its jobs are taken over', async () => {
    const first = await fleet.worker();
    const id = await fleet.send('wait 60000');
    await until(() => fleet.began(id, 1), 5_000);
    await first.kill();
    const ahead = Date.now() + 3_600_000;
    await fleet.sql(`UPDATE bullmq.job SET locked_until_ms = $1`, [ahead]);
    await fleet.sql(`UPDATE bullmq.meta SET value = $1 WHERE field = 'stalled-check'`, [String(ahead)]);
    await fleet.worker({ ATTEMPT_TIMEOUT_MS: '100', MAX_ATTEMPTS: '1' });
    await until(async () => (await fleet.message(id)).status === 'failed', 15_000);
    expect(fleet.handled()).toHaveLength(2);
  });

  it('is killed while messages are scheduled: they are delivered when due', async () => {
    const first = await fleet.worker();
    const due = [1_000, 2_500, 4_000].map((ms) => new Date(Date.now() + ms));
    const sent = due.map((deliverAt) => fleet.client.sent(fleet.account, { body: { message: 'later', deliverAt } }));
    const ids = (await Promise.all(sent)).map(({ id }) => id);
    expect(await fleet.census()).toBe(0);
    await until(fleet.has(ids[0] ?? '', 'delivered'), 10_000);
    await first.kill();
    await fleet.worker();
    await until(fleet.has(ids[2] ?? '', 'delivered'), 15_000);
    for (const [index, id] of ids.entries()) {
      const { status, updatedAt } = await fleet.message(id);
      const lateMs = Date.parse(updatedAt) - (due[index]?.getTime() ?? 0);
      expect({ status, isDue: lateMs >= 0, isLate: lateMs >= 10_000 }).toEqual({
        ...{ status: 'delivered', isDue: true, isLate: false },
      });
    }
    expect(fleet.handled().map(({ id }) => id)).toEqual(ids);
    expect(await fleet.census()).toBe(0);
  });
});
