import { Deployment, type Role } from '../support/deployment.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();
jest.setTimeout(200_000);

describe('Under load from 32 clients', () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start();
    await deployment.load();
  });

  afterAll(async () => {
    rounds.print();
    await deployment.stop();
  });

  /** Notes how long it takes until a message is accepted after the restart. */
  const killAndRestart = async (what: string, roles: Role[], { database = false } = {}) => {
    for (const role of roles) role.kill();
    if (database) await deployment.database.kill();
    if (database) await deployment.database.restart();
    await Promise.all(roles.map((role) => role.start()));
    rounds.note(`${what} killed, accepting after its restart`, await deployment.accepting(performance.now()));
    await deployment.going();
  };

  it.each(rounds.all)('%s: the API, the worker, both, PostgreSQL and everything can be killed', async () => {
    const { api, worker } = deployment;
    await killAndRestart('API', [api]);
    await killAndRestart('worker', [worker]);
    await killAndRestart('API and worker', [api, worker]);
    await killAndRestart('PostgreSQL', [], { database: true });
    await killAndRestart('everything', [api, worker], { database: true });
  });

  it('and no guarantee is broken', async () => {
    expect(await deployment.violations()).toEqual([]);
  });
});
