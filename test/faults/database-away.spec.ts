import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Deployment } from '../support/deployment.js';
import { until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';
import type { SmallDisk } from '../support/small-disk.js';

const rounds = new Rounds();
const FAULT_MS = rounds.long ? 10_000 : 2_000;
jest.setTimeout(200_000);

describe('Under load from 32 clients, messages are accepted again after the database', () => {
  let deployment: Deployment;
  let disk: SmallDisk;

  beforeAll(async () => {
    deployment = await Deployment.start({ postgres: { max_connections: '50' } });
    disk = await deployment.smallDisk();
    await deployment.load();
  });

  afterAll(async () => {
    rounds.print();
    await deployment.stop();
  });

  const recovers = async (fault: string, withinMs = 10_000) => {
    const ms = await deployment.accepting(performance.now());
    rounds.note(`${fault}: accepting again after`, ms);
    await deployment.going();
    expect(ms).toBeLessThan(withinMs);
  };

  /** Resolves when a message is refused with 503. */
  const refuses = () =>
    until(async () => {
      const response = await deployment.send('hello');
      if (response.status !== 503) return false;
      expect(await response.json()).toMatchObject({ code: 'unavailable' });
      return true;
    }, 60_000);

  const repeatedly = async (fault: () => unknown) => {
    for (let time = 0; time < 5; time++) {
      await fault();
      await sleep(100);
    }
  };

  describe.each(rounds.all)('%s', () => {
    it('was shut down immediately and started', async () => {
      await deployment.database.quit();
      await refuses();
      await deployment.database.restart();
      await recovers('shut down');
    });

    it('terminated all connections, five times', async () => {
      await repeatedly(() => deployment.database.terminateConnections());
      await recovers('connections terminated');
    });

    it('was paused', async () => {
      deployment.database.pause();
      await sleep(FAULT_MS);
      deployment.database.resume();
      await recovers('paused');
    });

    it('had no connection left', async () => {
      const hoarded: pg.Client[] = [];
      const hoard = async (): Promise<void> => {
        const client = new pg.Client({ connectionString: deployment.database.url, application_name: 'hoarder' });
        client.on('error', () => undefined);
        await client.connect();
        hoarded.push(client);
        await hoard();
      };
      await until(async () => {
        await expect(hoard()).rejects.toMatchObject({ code: '53300' });
        await hoarded[0]?.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'sluice-%'`,
        );
        return (await deployment.send('hello')).status === 503;
      }, 60_000);
      await sleep(FAULT_MS / 2);
      await Promise.all(hoarded.map((client) => client.end()));
      await recovers('no connection free');
    });

    it('had a full disk', async () => {
      await disk.fill();
      await refuses();
      await sleep(FAULT_MS / 2);
      await disk.empty();
      await recovers('disk full');
    });

    it('was 100 ms away in each direction, which refuses none', async () => {
      deployment.link.delayMs = 100;
      await deployment.going();
      deployment.link.delayMs = 0;
      await recovers('100 ms away');
    });

    it('reset connections five times, then refused them', async () => {
      await repeatedly(() => {
        deployment.link.reset();
      });
      await deployment.link.cut();
      await refuses();
      await deployment.link.restore();
      await recovers('cut off');
    });

    it('left connections half-open', async () => {
      deployment.link.abandon();
      await recovers('half-open connections', 40_000);
    });
  });

  it('and no guarantee is broken', async () => {
    expect(await deployment.violations()).toEqual([]);
  });
});
