import { SETTINGS } from '../support/api.js';
import { createTestDatabase } from '../support/database.js';
import { Fleet } from '../support/fleet.js';
import { Program } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();
jest.setTimeout(150_000 + rounds.all.length * 60_000);

describe('Processes beside others', () => {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  it('migrate an empty database concurrently, and all serve', async () => {
    await rounds.each(async () => {
      const database = await createTestDatabase('template0');
      const env = { ...SETTINGS, DATABASE_URL: database.url };
      const programs = ['api', 'worker', ...(rounds.long ? ['api', 'worker'] : [])].map((app) =>
        Program.run(`dist/apps/${app}/main.js`, env),
      );
      stops.push(() => Promise.all(programs.map((program) => program.kill())));
      await Promise.all(programs.map((program) => program.ready()));
      expect(await Promise.all(programs.map((program) => program.end()))).toEqual(programs.map(() => 0));
      await database.drop();
    });
  });

  it('restart one after another without failing a request of clients that retry', async () => {
    const fleet = await Fleet.startForLoad({}, 2);
    stops.push(() => fleet.stop());
    const programs = [...fleet.apis, await fleet.worker()];
    await fleet.load();
    await rounds.each(async () => {
      for (const program of programs) {
        expect(await program.end()).toBe(0);
        await program.restart();
      }
    });
    await fleet.going();
    expect(await fleet.violations()).toEqual([]);
  });
});
