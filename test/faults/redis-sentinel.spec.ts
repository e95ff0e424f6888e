import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { FAILED_SOON_MS, NO_REDIS, TestRedisSentinels } from '../support/redis.js';
import { Rounds } from '../support/rounds.js';
import { describeUnless } from '../support/skipping.js';

const rounds = new Rounds();
jest.setTimeout(300_000);

describeUnless(NO_REDIS)(
  'Under load from 32 clients, all messages are accepted and delivered although sentinels',
  () => {
    let fleet: Fleet;
    let sentinels: TestRedisSentinels;

    beforeAll(async () => {
      sentinels = await TestRedisSentinels.start(FAILED_SOON_MS);
      fleet = await Fleet.startForLoad({ ...sentinels.settings, LOG_LEVEL: 'info' }, 2);
      await fleet.worker();
      await fleet.worker();
      await fleet.load();
    });

    afterAll(async () => {
      await fleet.stop();
      await sentinels.stop();
    });

    const outputs = () => [...fleet.apis, ...fleet.workers].map(({ output }) => output);
    const delivers = async () => {
      const id = await fleet.send('delivered through the other server');
      await until(fleet.has(id, 'delivered'), 60_000, () => outputs().join('\n').slice(-3_000));
    };

    describe.each(rounds.all)('%s', () => {
      it('replaced a master that was killed, and which comes back empty', async () => {
        const master = await sentinels.master();
        await master.kill();
        await fleet.going();
        await sentinels.replaced(master);
        await delivers();
        await master.restart();
        await sentinels.replicated();
      });

      it('replaced a master that was suspended, and which went on', async () => {
        const master = await sentinels.master();
        master.signal('SIGSTOP');
        await sentinels.replaced(master);
        await delivers();
        master.signal('SIGCONT');
        await fleet.going();
        await sentinels.replicated();
      });
    });

    it('and none is lost, and no password is printed', async () => {
      expect(await fleet.violations()).toEqual([]);
      expect(outputs().filter((output) => /of(%|%25)(redis|sentinels)/.test(output))).toEqual([]);
    });
  },
);
