import { SETTINGS } from '../support/api.js';
import { createTestDatabase } from '../support/database.js';
import { Deployment } from '../support/deployment.js';
import { Program } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();
jest.setTimeout(150_000 + rounds.all.length * 60_000);

describe('Processes beside others', () => {
  it('migrate an empty database concurrently, and all serve', async () => {
    await rounds.each(async () => {
      const database = await createTestDatabase('template0');
      const env = { ...SETTINGS, DATABASE_URL: database.url };
      const programs = ['api', 'worker', ...(rounds.long ? ['api', 'worker'] : [])].map((app) =>
        Program.run(`dist/apps/${app}/main.js`, env),
      );
      await Promise.all(programs.map((program) => program.ready()));
      for (const program of programs) program.signal('SIGTERM');
      expect(await Promise.all(programs.map((program) => program.ended()))).toEqual(programs.map(() => 0));
      await database.drop();
    });
  });

  it('restart one after another without failing a request of clients that retry', async () => {
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
  });
});
