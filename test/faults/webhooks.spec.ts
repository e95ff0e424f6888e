import { Fleet } from '../support/fleet.js';
import { until, type Program } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();
jest.setTimeout(300_000);

describe('Under load from 32 clients of an account with three endpoints', () => {
  const PATHS = ['/one', '/two', '/often-failing'];
  let fleet: Fleet;
  let worker: Program;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
    fleet = await Fleet.deploy({
      ...{ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_TIMEOUT_MS: '1000' },
      WEBHOOK_RETRY_SECONDS: '0,0,0,1,1,1,1,1,1,1,1,1,1,1,1',
    });
    worker = await fleet.worker();
    await fleet.client.ask(fleet.account, 'PATCH /account', { delivery: 'webhooks' });
    for (const path of PATHS) {
      const url = receiver.url(path, (response, _received, n) => {
        response.writeHead(path === '/often-failing' && n % 3 === 0 ? 500 : 204).end();
      });
      expect((await fleet.client.ask(fleet.account, 'POST /endpoints', { url })).status).toBe(201);
    }
    await fleet.load({ perSecond: 50 });
  });

  afterAll(async () => {
    rounds.print();
    receiver.stop();
    await fleet.stop();
  });

  const killAndRestart = async (what: string, programs: Program[], options = {}) => {
    rounds.note(`${what} killed, accepting after its restart`, await fleet.killAndRestart(programs, options));
  };

  it.each(rounds.all)('%s: the worker, the API, PostgreSQL and everything can be killed', async () => {
    const { api } = fleet;
    await killAndRestart('worker', [worker]);
    await killAndRestart('API', [api]);
    await killAndRestart('PostgreSQL', [], { database: true });
    await killAndRestart('everything', [api, worker], { database: true });
  });

  it('no guarantee is broken, and every acknowledged message has arrived at every endpoint', async () => {
    expect(await fleet.violations()).toEqual([]);
    const open = `SELECT count(*)::int AS open FROM sluice.messages WHERE status IN ('queued', 'processing')`;
    await until(async () => (await fleet.sql<{ open: number }>(open))[0]?.open === 0, 120_000);
    const stored = await fleet.sql<{ id: string; status: string; attempts: number; noted: number }>(
      `SELECT id, status, attempts, (SELECT count(*)::int FROM sluice.attempts WHERE message_id = id) AS noted
       FROM sluice.messages`,
    );
    expect(stored.length).toBeGreaterThan(200);
    expect(stored.filter(({ status }) => status !== 'delivered')).toEqual([]);
    expect(stored.filter(({ attempts, noted }) => attempts !== noted)).toEqual([]);
    for (const path of PATHS) {
      const arrived = new Set(receiver.ids(path));
      expect(stored.filter(({ id }) => !arrived.has(id))).toEqual([]);
    }
    expect(await fleet.sql('SELECT FROM sluice.endpoint_deliveries')).toEqual([]);
  });
});
