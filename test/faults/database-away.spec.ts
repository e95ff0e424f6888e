import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Fleet } from '../support/fleet.js';
import { Link } from '../support/link.js';
import { until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';
import { STRANGE } from '../support/strange-servers.js';
import type { SmallDisk } from '../support/small-disk.js';

const rounds = new Rounds();
const FAULT_MS = rounds.long ? 10_000 : 2_000;
jest.setTimeout(200_000);

describe('Under load from 32 clients, messages are accepted again after the database', () => {
  let fleet: Fleet;
  let disk: SmallDisk;
  const link = new Link();

  beforeAll(async () => {
    fleet = await Fleet.deploy({}, { max_connections: '50' }, link);
    await fleet.worker();
    disk = await fleet.smallDisk();
    await fleet.load();
  });

  afterAll(async () => {
    rounds.print();
    await fleet.stop();
    await link.cut();
  });

  const recovers = async (fault: string) => {
    rounds.note(`${fault}: accepting again after`, await fleet.accepting());
    await fleet.going();
  };

  /** Resolves when a message is refused with 503. */
  const refuses = () =>
    until(async () => {
      const response = await fleet.client.send(fleet.account);
      if (response.status !== 503) return false;
      expect(response.body).toMatchObject({ code: 'unavailable' });
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
      await fleet.database.quit();
      await refuses();
      await fleet.database.restart();
      await recovers('shut down');
    });

    it('failed over to a standby', async () => {
      await fleet.database.failOver();
      await recovers('failed over');
    });

    it('terminated all connections, five times', async () => {
      await repeatedly(() =>
        fleet.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname = current_database()`),
      );
      await recovers('connections terminated');
    });

    it('was paused', async () => {
      fleet.database.pause();
      await sleep(FAULT_MS);
      fleet.database.resume();
      await recovers('paused');
    });

    it('had no connection left', async () => {
      const hoarded: pg.Client[] = [];
      const hoard = async (): Promise<void> => {
        const client = new pg.Client({ connectionString: fleet.database.url, application_name: 'hoarder' });
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
        return (await fleet.client.send(fleet.account)).status === 503;
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
      link.delayMs = 100;
      for (let count = 0; count < 10; count++) await fleet.send('far away');
      link.delayMs = 0;
      await recovers('100 ms away');
    });

    it('reset connections five times, then refused them', async () => {
      await repeatedly(() => {
        link.reset();
      });
      await link.cut();
      await refuses();
      await link.restore();
      await recovers('cut off');
    });

    it.each(STRANGE)('was replaced by a server that %s', async (what, sent) => {
      link.rejection = sent;
      link.reset();
      await refuses();
      link.rejection = null;
      await recovers(what);
    });

    it('left connections half-open', async () => {
      link.abandon();
      await recovers('half-open connections');
    });
  });

  it('and no guarantee is broken', async () => {
    expect(await fleet.violations()).toEqual([]);
  });
});
