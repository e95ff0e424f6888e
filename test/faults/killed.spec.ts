import { Fleet } from '../support/fleet.js';
import type { Program } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();
jest.setTimeout(200_000);

describe('Under load from 32 clients', () => {
  let fleet: Fleet;
  let worker: Program;

  beforeAll(async () => {
    fleet = await Fleet.deploy();
    worker = await fleet.worker();
    await fleet.load();
  });

  afterAll(async () => {
    rounds.print();
    await fleet.stop();
  });

  const killAndRestart = async (what: string, programs: Program[], options = {}) => {
    rounds.note(`${what} killed, accepting after its restart`, await fleet.killAndRestart(programs, options));
  };

  it.each(rounds.all)('%s: the API, the worker, both, PostgreSQL and everything can be killed', async () => {
    const { api } = fleet;
    await killAndRestart('API', [api]);
    await killAndRestart('worker', [worker]);
    await killAndRestart('API and worker', [api, worker]);
    await killAndRestart('PostgreSQL', [], { database: true });
    await killAndRestart('everything', [api, worker], { database: true });
  });

  it('and no guarantee is broken', async () => {
    expect(await fleet.violations()).toEqual([]);
  });
});
