import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Deployment } from '../support/deployment.js';
import { until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';
import type { SmallDisk } from '../support/small-disk.js';

const rounds = new Rounds();
/** Milliseconds that a fault lasts. */
const LASTING_MS = rounds.long ? 10_000 : 2_000;

describe('a database that is away, under load from 32 callers', () => {
  let deployment: Deployment;
  let disk: SmallDisk;

  beforeAll(async () => {
    deployment = await Deployment.start({ postgres: { max_connections: '50' } });
    disk = await deployment.smallDisk();
    await deployment.load();
  }, 60_000);

  afterAll(async () => {
    rounds.print();
    await deployment.stop();
  }, 60_000);

  /** Notes how long it takes until a message is accepted, and sees that callers get on. */
  const recovered = async (fault: string, since = performance.now()) => {
    const ms = await deployment.accepting(since);
    rounds.note(`${fault}: accepting again after`, ms);
    await deployment.going();
    return ms;
  };

  /** Resolves when a message is answered with 503. */
  const refusing = () =>
    until(async () => {
      const response = await deployment.send('hello');
      if (response.status !== 503) return false;
      expect(await response.json()).toMatchObject({ code: 'unavailable' });
      return true;
    }, 60_000);

  describe.each(rounds.all)('%s', () => {
    it('shut down immediately and started again', async () => {
      await deployment.database.quit();
      await refusing();
      await deployment.database.restart();
      expect(await recovered('shut down')).toBeLessThan(10_000);
    }, 60_000);

    it('with all its connections terminated, again and again', async () => {
      for (let time = 0; time < 5; time++) {
        await deployment.database.terminateConnections();
        await sleep(100);
      }
      expect(await recovered('connections terminated')).toBeLessThan(10_000);
    }, 60_000);

    it('paused', async () => {
      deployment.database.pause();
      await sleep(LASTING_MS);
      deployment.database.resume();
      expect(await recovered('paused')).toBeLessThan(10_000);
    }, 60_000);

    it('without a free connection', async () => {
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
      await sleep(LASTING_MS / 2);
      await Promise.all(hoarded.map((client) => client.end()));
      expect(await recovered('no connection free')).toBeLessThan(10_000);
    }, 90_000);

    it('whose disk is full', async () => {
      await disk.fill();
      await refusing();
      await sleep(LASTING_MS / 2);
      await disk.empty();
      expect(await recovered('disk full')).toBeLessThan(10_000);
    }, 90_000);

    it('far away: 100 ms each way', async () => {
      deployment.link.delayMs = 100;
      await deployment.going();
      deployment.link.delayMs = 0;
      expect(await recovered('100 ms away')).toBeLessThan(10_000);
    }, 60_000);

    it('cut off: connections reset again and again, then none for a while', async () => {
      for (let time = 0; time < 5; time++) {
        deployment.link.reset();
        await sleep(100);
      }
      await deployment.link.cut();
      await refusing();
      await deployment.link.restore();
      expect(await recovered('cut off')).toBeLessThan(10_000);
    }, 60_000);

    it('behind connections that say nothing any more, and nobody is told', async () => {
      deployment.link.abandon();
      expect(await recovered('half-open connections')).toBeLessThan(40_000);
    }, 120_000);
  });

  it('breaks no promise', async () => {
    expect(await deployment.violations()).toEqual([]);
  }, 200_000);
});
