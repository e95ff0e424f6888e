import { SETTINGS, TestApi } from '../support/api.js';
import { createTestDatabase } from '../support/database.js';
import { burst, REFUSED, remainingOf, tally } from '../support/limits.js';
import { Program } from '../support/processes.js';

/** Two processes once, or six as often as the long form asks. */
const [PROCESSES, ROUNDS] = process.env.FAULT_ROUNDS === undefined ? [2, 1] : [6, Number(process.env.FAULT_ROUNDS)];
const LIMIT = 60;

describe(`${PROCESSES} processes of the API`, () => {
  it(
    'admit exactly the limit of 240 parallel requests, and tell each remaining number once',
    async () => {
      const database = await createTestDatabase();
      const env = { ...SETTINGS, DATABASE_URL: database.url, LOG_LEVEL: 'info' };
      const programs = Array.from({ length: PROCESSES }, () => Program.run('dist/apps/api/main.js', env));
      await Promise.all(programs.map((program) => program.printed(/"msg":"listening"/)));
      const apis = programs.map((program) => TestApi.at(program.address('url'), database.url));

      const signUp = (plan: 'free') => apis[0]?.signUp(plan) ?? Promise.reject(new Error('There is no API.'));
      for (let round = 0; round < ROUNDS; round++) {
        const answers = await burst(apis, await signUp('free'), 240);

        expect(tally(answers)).toEqual({ 200: LIMIT, [REFUSED]: 240 - LIMIT });
        expect(remainingOf(answers)).toEqual(Array.from({ length: LIMIT }, (_, index) => LIMIT - 1 - index));
      }

      for (const program of programs) program.signal('SIGTERM');
      expect(await Promise.all(programs.map((program) => program.ended()))).toEqual(programs.map(() => 0));
      await Promise.all(apis.map((api) => api.stop()));
      await database.drop();
    },
    60_000 + ROUNDS * 10_000,
  );
});
