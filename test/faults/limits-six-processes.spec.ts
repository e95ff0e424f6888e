import { TestApi } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { describeUnless } from '../support/skipping.js';
import { burst, expectDownToZero, REFUSED, tally } from '../support/limits.js';

const PROCESSES = 6;
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 0);
const LIMIT = 60;
jest.setTimeout(180_000 + ROUNDS * 30_000);

// test/e2e/limits/exactly-the-limit.spec.ts has two APIs.
const missing = ROUNDS === 0 ? 'Six API processes: only npm run test:faults starts as many.' : null;
describeUnless(missing)(`${PROCESSES} API processes`, () => {
  let fleet: Fleet;
  let apis: TestApi[] = [];
  afterEach(async () => {
    await Promise.all(apis.map((api) => api.stop()));
    await fleet.stop();
  });

  it('admit exactly the limit of 240 parallel requests, each remaining number once', async () => {
    fleet = await Fleet.startProcesses({ BAN_GRACE_SECONDS: '60' }, PROCESSES);
    const { DATABASE_URL = '' } = fleet.client.environment;
    apis = fleet.apis.map(({ url }) => TestApi.at(url, DATABASE_URL));

    for (let round = 0; round < ROUNDS; round++) {
      const responses = await burst(apis, await fleet.client.signUp('free'), 240);

      expect(tally(responses)).toEqual({ 200: LIMIT, [REFUSED]: 240 - LIMIT });
      expectDownToZero(responses, LIMIT);
    }

    expect(await Promise.all(fleet.apis.map((api) => api.end()))).toEqual(fleet.apis.map(() => 0));
  });
});
