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
    try {
      await work();
      // Refusals that are remembered are checked again within a second.
      await until(async () => ((await counted())?.minute ?? 0) >= used);
      const sofar = responses.length;
      await until(() => responses.length > sofar + 50);
    } finally {
      isOver = true;
    }
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

  it(`it holds for ${ACCOUNTS} accounts with the next request, and waits for none of them, nor they for it`, async () => {
    const [before, after] = [50, 150];
    await put(before);
    const [first, changing, holders] = [await onPlan(), await onPlan(), [] as Account[]];
    for (let n = 1; n <= 10; n++) {
      await api.sql(
        `INSERT INTO sluice.accounts (id, name, plan, created_at)
         SELECT 'acct_' || n, 'One of many', $1, now() FROM generate_series($2::int, $3::int) AS n`,
        [name, ((n - 1) * ACCOUNTS) / 10 + 1, (n * ACCOUNTS) / 10],
      );
      holders.push(await onPlan());
    }
    const last = await onPlan();
    for (const holder of holders) expect(await limitOf(holder, 0)).toBe(before);

    const change = async () => {
      const signUp = `INSERT INTO sluice.accounts (id, name, plan, created_at) VALUES ('acct_new', 'New', $1, now())`;
      const rename = `UPDATE sluice.accounts SET name = 'Renamed' WHERE id = $1`;
      // A lock of the table, or of every account, would wait for these.
      await api.during(signUp, [name], () => api.during(rename, [changing.id], () => put(after)));
      // However long a busy machine takes to answer these.
      for (const holder of holders) for (const process of [1, 0]) expect(await limitOf(holder, process)).toBe(after);
    };
    const isOver = new AbortController();
    const waits = longestWait(isOver.signal);
    let changed: Promise<void> | undefined;
    const sendingAll = [
      ...[first, last].map((holder) => whileSending(holder, after, () => (changed ??= change()))),
      whileSending(await api.signUp('free'), 60, () => changed ?? Promise.resolve()),
    ];
    await Promise.all(sendingAll);
    isOver.abort();
    expect(await waits).toBeLessThan(2_000);
    const behind = 'SELECT FROM sluice.account_plans WHERE plan = $1 AND per_minute <> $2';
    expect(await api.sql(behind, [name, after])).toEqual([]);
    const { body } = await api.ask(OPERATOR, `GET /admin/plans/${name}`);
    expect(body).toMatchObject({ accounts: ACCOUNTS + 3 + holders.length });
    await api.sql(`DELETE FROM sluice.accounts WHERE name = 'One of many'`);
  });

  /** For how many milliseconds a statement has waited for a lock, at most. */
  async function longestWait(isOver: AbortSignal): Promise<number> {
    const waiting = `
      SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart) * 1000), 0)::float8 AS ms
      FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`;
    let longest = 0;
    while (!isOver.aborted) {
      const [row] = await api.sql<{ ms: number }>(waiting);
      longest = Math.max(longest, row?.ms ?? 0);
      await sleep(50);
    }
    return longest;
  }
});
