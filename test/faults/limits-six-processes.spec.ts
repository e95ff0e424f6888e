import { TestApi } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { burst, REFUSED, remainingOf, tally } from '../support/limits.js';

/** Two processes once; in the long form six, repeatedly. */
const [PROCESSES, ROUNDS] = process.env.FAULT_ROUNDS === undefined ? [2, 1] : [6, Number(process.env.FAULT_ROUNDS)];
const LIMIT = 60;
jest.setTimeout(60_000 + ROUNDS * 10_000);

let fleet: Fleet;
let apis: TestApi[] = [];
afterEach(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await fleet.stop();
});

it(`${PROCESSES} API processes admit exactly the limit of 240 parallel requests, each remaining number once`, async () => {
  fleet = await Fleet.startProcesses({ BAN_GRACE_SECONDS: '60' }, PROCESSES);
  const { DATABASE_URL = '' } = fleet.client.environment;
  apis = fleet.apis.map(({ url }) => TestApi.at(url, DATABASE_URL));

  for (let round = 0; round < ROUNDS; round++) {
    const responses = await burst(apis, await fleet.client.signUp('free'), 240);

    expect(tally(responses)).toEqual({ 200: LIMIT, [REFUSED]: 240 - LIMIT });
    expect(remainingOf(responses)).toEqual(Array.from({ length: LIMIT }, (_, index) => LIMIT - 1 - index));
  }

  expect(await Promise.all(fleet.apis.map((api) => api.end()))).toEqual(fleet.apis.map(() => 0));
});
