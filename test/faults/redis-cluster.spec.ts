import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { FAILED_SOON_MS, NO_REDIS, TestRedisCluster } from '../support/redis.js';
import { Rounds } from '../support/rounds.js';
import { describeUnless } from '../support/skipping.js';

const rounds = new Rounds();
jest.setTimeout(300_000);

describeUnless(NO_REDIS)('Under load from 32 clients, all messages are delivered by a cluster', () => {
  let fleet: Fleet;
  let cluster: TestRedisCluster;

  beforeAll(async () => {
    cluster = await TestRedisCluster.start(FAILED_SOON_MS);
    fleet = await Fleet.startForLoad({ ...cluster.settings(4), LOG_LEVEL: 'info' }, 2);
    await fleet.worker();
    await fleet.worker();
    await fleet.load();
  });

  afterAll(async () => {
    await fleet.stop();
    await cluster.stop();
  });

  /** Resolves when messages of several shards that are sent from now on are delivered. */
  const delivers = async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, (_, index) => fleet.send(`message ${index}`)));
    for (const id of ids)
      await until(fleet.has(id, 'delivered'), 60_000, () =>
        [...fleet.apis, ...fleet.workers].map(({ output }) => output.slice(-1_500)).join('\n'),
      );
  };

  describe.each(rounds.all)('%s', () => {
    it('that has lost all its keys', async () => {
      await cluster.flush();
      await delivers();
    });

    it('one slot of which is moved to another master while its jobs run', async () => {
      await cluster.moveSlotOf('{messages-1}');
      await delivers();
    });

    it('a master of which is killed, and replaced by its replica', async () => {
      const master = await cluster.masterOf('{messages-0}');
      await master.kill();
      await delivers();
      await fleet.going();
      await master.restart();
    });

    it('of which processes then use other numbers of shards, one after the other', async () => {
      const [first, second] = fleet.workers;
      await fleet.worker(cluster.settings(2));
      await delivers();
      for (const worker of [first, second]) await worker?.end();
      await delivers();
    });
  });

  it('and none is lost', async () => {
    expect(await fleet.violations()).toEqual([]);
  });
});
