import { setTimeout as sleep } from 'node:timers/promises';
import { joinedApi, OPERATOR, ownApi, type Account } from '../../support/api.js';
import { isLate, type HttpResponse } from '../../support/http.js';
import { numberIn } from '../../support/limits.js';
import { until } from '../../support/processes.js';

const ACCOUNTS = 100_000;

describe('While a plan is changed', () => {
  // Nobody is banned here.
  const api = ownApi({ BAN_GRACE_SECONDS: '600' });
  const apis = [api, joinedApi(api)];
  let name = '';
  let plans = 0;
  beforeEach(() => {
    name = `plan-${++plans}`;
  });

  const put = async (perMinute: number, perDay = 1_000_000) => {
    const { status } = await api.ask(OPERATOR, `PUT /admin/plans/${name}`, { limits: { perMinute, perDay } });
    expect([200, 201]).toContain(status);
  };
  const onPlan = async (): Promise<Account> => {
    const holder = await api.signUp('free');
    await api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, { plan: name });
    return holder;
  };
  const use = (holder: Account, process = 0) => (apis[process] ?? api).ask(holder.key);
  const limitOf = async (holder: Account, process: number) => numberIn(await use(holder, process), 'x-ratelimit-limit');

  it('the new limits hold with the next request on every process, and what was used stays used', async () => {
    await put(10);
    const holder = await onPlan();
    for (const process of [0, 1]) expect(await limitOf(holder, process)).toBe(10);
    await put(20);
    for (const process of [1, 0]) expect(await limitOf(holder, process)).toBe(20);
    expect(numberIn(await use(holder), 'x-ratelimit-remaining')).toBe(15);
    await put(6);
    expect(numberIn(await use(holder), 'x-ratelimit-remaining')).toBe(0);
    for (const process of [0, 1]) expect((await use(holder, process)).status).toBe(429);
    await put(1_000);
    for (const process of [0, 1]) await until(async () => (await use(holder, process)).status === 200);
  });

  /** Clients that send without a pause while something is done, until the account has used this many requests. */
  const whileSending = async (holder: Account, used: number, work: () => Promise<void>) => {
    const responses: HttpResponse[] = [];
    let isOver = false;
    const client = async (process: number) => {
      while (!isOver) responses.push(await use(holder, process));
    };
    const clients = [0, 1, 0, 1, 0, 1].map(client);
    const counted = async () => {
      const text = 'SELECT minute_used AS minute, day_used AS day FROM sluice.rate_limits WHERE account_id = $1';
      return (await api.sql<{ minute: number; day: number }>(text, [holder.id]))[0];
    };
    await work();
    // Refusals that are remembered are checked again within a second.
    await until(async () => ((await counted())?.minute ?? 0) >= used);
    const sofar = responses.length;
    await until(() => responses.length > sofar + 50);
    isOver = true;
    await Promise.all(clients);
    expect(await counted()).toEqual({ minute: used, day: used });
    // A busy machine answers too late to some that were admitted.
    expect(responses.filter((response) => response.status === 200 || isLate(response))).toHaveLength(used);
  };

  it.each([
    ['raised', 40, 100],
    ['lowered, and raised again', 100, 100],
  ])('requests that go on are admitted exactly up to the limit: %s', async (_what, before, after) => {
    await put(before);
    await whileSending(await onPlan(), after, async () => {
      for (const perMinute of [50, 60, after]) {
        await put(perMinute);
        await sleep(50);
      }
    });
  });

  it('an account that moves between plans is counted like any other', async () => {
    await put(30);
    const holder = await onPlan();
    const move = (plan: string) => api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, { plan });
    await whileSending(holder, 60, async () => {
      for (let round = 0; round < 5; round++) {
        await Promise.all([put(30 + round), move('free')]);
        await Promise.all([put(60), move(name)]);
      }
    });
  });

  it(`it holds for ${ACCOUNTS} accounts at once, and others are served meanwhile`, async () => {
    await put(10);
    const [first, last, other] = [await onPlan(), await onPlan(), await api.signUp()];
    await api.sql(
      `INSERT INTO sluice.accounts (id, name, plan, created_at)
       SELECT 'acct_' || n, 'One of many', $1, now() FROM generate_series(1, $2::int) AS n`,
      [name, ACCOUNTS],
    );
    for (const holder of [first, last]) expect(await limitOf(holder, 0)).toBe(10);
    const served = Promise.all(Array.from({ length: 50 }, () => use(other, 1)));
    await put(20);
    for (const holder of [first, last]) for (const process of [0, 1]) expect(await limitOf(holder, process)).toBe(20);
    expect(new Set((await served).map(({ status }) => status))).toEqual(new Set([200]));
    const { body } = await api.ask(OPERATOR, `GET /admin/plans/${name}`);
    expect(body).toMatchObject({ accounts: ACCOUNTS + 2 });
    await api.sql(`DELETE FROM sluice.accounts WHERE name = 'One of many'`);
  });
});
