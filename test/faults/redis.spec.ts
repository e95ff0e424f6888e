import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet } from '../support/fleet.js';
import { callUndocumented } from '../support/http.js';
import { until, type Program } from '../support/processes.js';
import { NO_REDIS, TestRedis } from '../support/redis.js';
import { Rounds } from '../support/rounds.js';
import { describeUnless } from '../support/skipping.js';

const rounds = new Rounds();
const FAULT_MS = rounds.long ? 20_000 : 7_000;
jest.setTimeout(300_000);

describeUnless(NO_REDIS)('Processes with different queues', () => {
  let redis: TestRedis;
  let fleet: Fleet;

  beforeAll(async () => {
    redis = await TestRedis.start();
    fleet = await Fleet.startForLoad({ LOG_LEVEL: 'info' });
  });

  afterAll(async () => {
    await fleet.stop();
    await redis.stop();
  });

  it('use that of the one that started last, report it, and deliver all messages', async () => {
    await fleet.worker();
    await fleet.load();
    const isReplaced = (program: Program) => async () => {
      const { body } = await callUndocumented(await program.managementUrl(), { path: '/health/ready' });
      return (body as unknown as { checks: { queue?: string } }).checks.queue === 'replaced';
    };
    const onRedis = await fleet.worker({ REDIS_URL: redis.url });
    await until(isReplaced(fleet.api), 60_000);
    await until(fleet.has(await fleet.send('delivered through Redis'), 'delivered'), 60_000);
    const onPostgres = await fleet.worker();
    await fleet.worker({ REDIS_URL: redis.url });
    await until(isReplaced(onPostgres), 60_000);
    await fleet.going();
    await fleet.worker();
    await until(isReplaced(onRedis), 60_000);
    await until(fleet.has(await fleet.send('delivered through PostgreSQL'), 'delivered'), 60_000);
    expect(await isReplaced(fleet.api)()).toBe(false);
    expect(await fleet.violations()).toEqual([]);
  });
});

describeUnless(NO_REDIS)('Under load from 32 clients, all messages are accepted and delivered although Redis', () => {
  let fleet: Fleet;
  let redis: TestRedis;

  beforeAll(async () => {
    redis = await TestRedis.start();
    // Only the recovery of the queue delivers in time what Redis has lost: the reconciler runs once a day.
    const settings = { REDIS_URL: redis.url, LOG_LEVEL: 'info', RECONCILE_INTERVAL_MS: '86400000' };
    fleet = await Fleet.startForLoad(settings, 2);
    await fleet.worker();
    await fleet.worker();
    await fleet.load();
  });

  afterAll(async () => {
    await fleet.stop();
    await redis.stop();
  });

  /** While Redis is down, processes are ready nevertheless. */
  const isReported = async (state: 'up' | 'down') => {
    const url = await fleet.api.managementUrl();
    await until(async () => {
      const { status, body } = await callUndocumented(url, { path: '/health/ready' });
      return status === 200 && (body as unknown as { checks: { redis: string } }).checks.redis === state;
    }, 60_000);
  };

  const outputs = () => [...fleet.apis, ...fleet.workers].map(({ output }) => output.slice(-1_500)).join('\n');
  const areDelivered = async (ids: readonly string[]) => {
    for (const id of ids) await until(fleet.has(id, 'delivered'), 60_000, outputs);
  };
  const send = () => Promise.all(['one', 'other'].map((text) => fleet.send(text)));

  /** Resolves when some messages that are sent from now on are delivered. */
  const delivers = async () => areDelivered(await send());

  /**
   * Resolves when some messages that Redis had are delivered although it has lost them, and some that are sent later.
   * @param lose what happens to Redis while no worker runs
   */
  const recovers = async (lose: () => Promise<unknown>) => {
    for (const worker of fleet.workers) worker.signal('SIGSTOP');
    const ids = await send();
    const waiting = 'SELECT FROM sluice.outbox WHERE message_ids && $1';
    await until(async () => (await fleet.sql(waiting, [ids])).length === 0, 60_000, outputs);
    await lose();
    for (const worker of fleet.workers) worker.signal('SIGCONT');
    await areDelivered(ids);
    await delivers();
  };

  describe.each(rounds.all)('%s', () => {
    it('lost all its keys', async () => {
      await recovers(() => redis.run((client) => client.flushall()));
    });

    it('was killed, and started empty', async () => {
      await recovers(async () => {
        await redis.kill();
        await isReported('down');
        await fleet.going();
        await redis.restart();
      });
      await isReported('up');
    });

    it('was suspended', async () => {
      redis.signal('SIGSTOP');
      await sleep(FAULT_MS);
      await fleet.going();
      redis.signal('SIGCONT');
      await delivers();
    });

    it('had no memory left', async () => {
      await redis.run(async (client) => {
        const used = /^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1] ?? '1';
        await client.config('SET', 'maxmemory', used);
        await sleep(FAULT_MS / 2);
        await fleet.going();
        await client.config('SET', 'maxmemory', '0');
      });
      await delivers();
    });
  });

  it.each([
    ['empty', []],
    ['with its append-only file', ['--appendonly', 'yes']],
  ])('was killed together with all APIs and workers, and started after them, %s', async (_how, options) => {
    if (options.length > 0) await redis.run((client) => client.config('SET', 'appendonly', 'yes'));
    await fleet.going();
    await recovers(async () => {
      await Promise.all([redis.kill(), fleet.killAndRestart([...fleet.apis, ...fleet.workers])]);
      await redis.restart(...options);
    });
  });

  it('was started again with an old snapshot', async () => {
    await redis.run((client) => client.save());
    await fleet.going(200);
    await recovers(async () => {
      await redis.kill();
      await isReported('down');
      await redis.restart();
    });
  });

  it('and none is lost', async () => {
    // What a killed worker had just claimed is no stray yet when the queue recovers.
    await fleet.worker({ RECONCILE_INTERVAL_MS: '1500' });
    expect(await fleet.violations()).toEqual([]);
  });
});
