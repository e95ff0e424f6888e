import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

describe('a worker that is lost', () => {
  let fleet: Fleet;

  beforeEach(async () => {
    fleet = await Fleet.start();
  });

  afterEach(async () => {
    await fleet.stop();
  });

  const delivered = (id: string) => async () => (await fleet.message(id)).status === 'delivered';

  it('killed in the middle of a job: another takes the job over within 10 s and runs it', async () => {
    const first = await fleet.worker();
    const id = await fleet.send('wait 1500');
    await until(() => fleet.handled().length === 1, 5_000);
    first.signal('SIGKILL');
    const lost = Date.now();
    await fleet.worker();
    await until(delivered(id), 20_000);
    expect(Date.now() - lost).toBeLessThan(10_000);
    expect(fleet.handled().map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await fleet.message(id)).toMatchObject({ status: 'delivered', attempts: 2, failureReason: null });
    expect(await fleet.census()).toBe(0);
  });

  it('stopped past its lock: when it wakes after another has delivered, it changes nothing', async () => {
    const sleeper = await fleet.worker();
    const id = await fleet.send('wait 500');
    await until(() => fleet.handled().length === 1, 5_000);
    sleeper.signal('SIGSTOP');
    await fleet.worker();
    await until(delivered(id), 20_000);
    const before = await fleet.message(id);
    sleeper.signal('SIGCONT');
    // It has woken and tried to finish when it takes part again.
    await fleet.send('after');
    await until(
      async () => (await fleet.sql(`SELECT FROM sluice.messages WHERE status <> 'delivered'`)).length === 0,
      5_000,
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await fleet.message(id)).toEqual(before);
    expect(before.attempts).toBe(2);
    expect(fleet.handled().filter((call) => call.id === id)).toHaveLength(2);
  });

  it('killed between the final status and the end of the job: the job ends without calling the handler again', async () => {
    const id = await fleet.send('once');
    await until(async () => (await fleet.sql('SELECT FROM bullmq.job')).length === 1, 5_000);
    // What such a worker leaves behind: a message that is delivered, and a job that is active under a lock long past.
    await fleet.sql(`UPDATE sluice.messages SET status = 'delivered', attempts = 1`);
    await fleet.sql(
      `UPDATE bullmq.job SET state = 'active', lock_token = 'lost', locked_until_ms = 1, processed_by = 'sluice'`,
    );
    await fleet.worker();
    await until(async () => (await fleet.sql('SELECT FROM bullmq.job')).length === 0, 10_000);
    expect(fleet.handled()).toEqual([]);
    expect(await fleet.message(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('gone, and its job failed for stalling by a foreign worker that allows no stall: it is queued again', async () => {
    const id = await fleet.send('hello');
    await until(async () => (await fleet.sql('SELECT FROM bullmq.job')).length === 1, 5_000);
    await fleet.sql(
      `UPDATE bullmq.job SET deferred_failure = 'job stalled more than allowable limit', stalled_count = 1`,
    );
    await fleet.worker();
    await until(delivered(id), 10_000);
    expect(await fleet.census()).toBe(0);
  });

  it('whose clock ran an hour ahead: its jobs are taken over all the same', async () => {
    const first = await fleet.worker();
    const id = await fleet.send('wait 60000');
    await until(() => fleet.handled().length === 1, 5_000);
    first.signal('SIGKILL');
    await first.ended();
    const ahead = Date.now() + 3_600_000;
    await fleet.sql(`UPDATE bullmq.job SET locked_until_ms = $1`, [ahead]);
    await fleet.sql(`UPDATE bullmq.meta SET value = $1 WHERE field = 'stalled-check'`, [String(ahead)]);
    await fleet.worker({ ATTEMPT_TIMEOUT_MS: '100', MAX_ATTEMPTS: '1' });
    await until(async () => (await fleet.message(id)).status === 'failed', 15_000);
    expect(fleet.handled()).toHaveLength(2);
  });
});
