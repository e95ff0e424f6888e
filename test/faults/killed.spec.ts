import { Deployment, type Role } from '../support/deployment.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();

describe('what is killed under load from 32 callers', () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start();
    await deployment.load();
  }, 60_000);

  afterAll(async () => {
    rounds.print();
    await deployment.stop();
  }, 60_000);

  /** @returns how long it took until a message was accepted, once what was killed had been started again */
  const killed = async (roles: Role[], database = false) => {
    for (const role of roles) role.kill();
    if (database) await deployment.database.kill();
    if (database) await deployment.database.restart();
    const back = performance.now();
    await Promise.all(roles.map((role) => role.start()));
    const ms = await deployment.accepting(roles.length > 0 ? performance.now() : back);
    await deployment.going();
    return ms;
  };

  it.each(rounds.all)(
    '%s: the API, the worker, both, PostgreSQL, everything: each comes back',
    async () => {
      const { api, worker } = deployment;
      rounds.note('API killed, accepting after its start', await killed([api]));
      rounds.note('worker killed, accepting after its start', await killed([worker]));
      rounds.note('API and worker killed, accepting after their start', await killed([api, worker]));
      rounds.note('PostgreSQL killed, accepting after its return', await killed([], true));
      rounds.note('everything killed, accepting after its start', await killed([api, worker], true));
    },
    120_000,
  );

  it('and nothing that was promised was broken', async () => {
    expect(await deployment.violations()).toEqual([]);
  }, 200_000);
});
