import { ask, bearer, ENVIRONMENT, REFUSED, remainingOf, signUpAt, tally } from '../support/limits.js';
import { createTestDatabase } from '../support/database.js';
import { Program } from '../support/processes.js';

/** Two processes once, or six as often as the long form asks. */
const [PROCESSES, ROUNDS] = process.env.FAULT_ROUNDS === undefined ? [2, 1] : [6, Number(process.env.FAULT_ROUNDS)];
const LIMIT = 60;

describe(`${PROCESSES} processes of the API`, () => {
  it(
    'admit exactly the limit of 240 parallel requests, and tell each remaining number once',
    async () => {
      const database = await createTestDatabase();
      const env = { ...ENVIRONMENT, DATABASE_URL: database.url, LOG_LEVEL: 'info' };
      const programs = Array.from({ length: PROCESSES }, () => Program.run('dist/apps/api/main.js', env));
      await Promise.all(programs.map((program) => program.printed(/"msg":"listening"/)));
      const urls = programs.map(({ output }) => /"url":"([^"]+)"/.exec(output)?.[1] ?? '');

      for (let round = 0; round < ROUNDS; round++) {
        const headers = bearer(await signUpAt(urls[0] ?? ''));
        const burst = Array.from({ length: 240 }, (_, n) => ask(urls[n % PROCESSES] ?? '', { headers }));
        const answers = await Promise.all(burst);

        expect(tally(answers)).toEqual({ 200: LIMIT, [REFUSED]: 240 - LIMIT });
        expect(remainingOf(answers)).toEqual(Array.from({ length: LIMIT }, (_, index) => LIMIT - 1 - index));
      }

      for (const program of programs) program.signal('SIGTERM');
      expect(await Promise.all(programs.map((program) => program.ended()))).toEqual(programs.map(() => 0));
      await database.drop();
    },
    60_000 + ROUNDS * 10_000,
  );
});
