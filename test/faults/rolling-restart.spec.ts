import { createTestDatabase } from '../support/database.js';
import { Deployment } from '../support/deployment.js';
import { Program } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();

describe('Processes that begin and end beside others', () => {
  it(
    'migrate an empty database side by side, and all of them serve',
    async () => {
      await rounds.each(async () => {
        const database = await createTestDatabase('template0');
        const env = {
          DATABASE_URL: database.url,
          API_KEY_PEPPER: 'a pepper for tests, long enough to pass',
          HOST: '127.0.0.1',
        };
        const programs = ['api', 'worker', ...(rounds.long ? ['api', 'worker'] : [])].map((app) =>
          Program.run(`dist/apps/${app}/main.js`, { ...env, PORT: '0' }),
        );
        await Promise.all(programs.map((program) => program.ready()));
        for (const program of programs) program.signal('SIGTERM');
        expect(await Promise.all(programs.map((program) => program.ended()))).toEqual(programs.map(() => 0));
        await database.drop();
      });
    },
    30_000 + rounds.all.length * 30_000,
  );

  it(
    'restarted one after the other, fail no request of callers who repeat what was refused or reset',
    async () => {
      const deployment = await Deployment.start({ apis: 2 });
      await deployment.load();
      await rounds.each(async () => {
        for (const role of deployment.roles) {
          expect(await role.end()).toBe(0);
          await role.start();
        }
      });
      await deployment.going();
      expect(await deployment.violations()).toEqual([]);
      await deployment.stop();
    },
    150_000 + rounds.all.length * 60_000,
  );
});
