import { joinedApi, OPERATOR, sharedApi, type Account } from '../../support/api.js';
import { type Answer } from '../../support/http.js';

interface Window {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: string;
}
interface Usage extends Readonly<Record<'minute' | 'day', Window>> {
  readonly messages: Readonly<Record<string, unknown>>;
}

const usageOf = (answer: Answer) => answer.body as unknown as Usage;

describe('GET /account/usage responds 200', () => {
  const api = sharedApi();
  const other = joinedApi(api);

  const ask = ({ key }: Account) => api.ask(key, 'GET /account/usage');
  const used = async (account: Account) => {
    const { minute, day } = usageOf(await ask(account));
    return { minute: minute.used, day: day.used };
  };

  it('with both windows, which count this request', async () => {
    const answer = await ask(await api.signUp('free'));
    const now = Date.now();
    const { minute, day, ...rest } = usageOf(answer);
    const [minuteLeft, dayLeft] = [minute, day].map(({ resetsAt }) => Date.parse(resetsAt) - now);

    expect(answer.status).toBe(200);
    const nothing = { queued: 0, oldestQueuedAt: null, scheduled: 0, deliveredPerMinute: 0 };
    expect(rest).toEqual({ messages: nothing, storage: { limitBytes: 10_240 * 1_048_576, usedBytes: 0 } });
    expect(minute).toEqual({ limit: 60, used: 1, remaining: 59, resetsAt: minute.resetsAt });
    expect(day).toEqual({ limit: 1_000, used: 1, remaining: 999, resetsAt: day.resetsAt });
    for (const { resetsAt } of [minute, day]) expect(new Date(resetsAt).toISOString()).toBe(resetsAt);
    for (const [left, length] of [
      [minuteLeft, 60_000],
      [dayLeft, 86_400_000],
    ]) {
      expect(left).toBeGreaterThan((length ?? 0) - 10_000);
      expect(left).toBeLessThanOrEqual(length ?? 0);
    }
  });

  it('with how many messages wait, since when, and how many are for later', async () => {
    const account = await api.signUp('free');
    const send = async (body: object) => (await api.ask(account.key, 'POST /messages', body)).body;
    const { createdAt } = await send({ message: 'x' });
    await send({ message: 'y' });
    await send({ message: 'z', deliverAt: new Date(Date.now() + 3_600_000).toISOString() });
    const { messages } = usageOf(await ask(account));
    expect(messages).toEqual({ queued: 2, oldestQueuedAt: createdAt, scheduled: 1, deliveredPerMinute: 0 });
  });

  it('with the numbers that its headers have', async () => {
    const account = await api.signUp('free');
    for (let request = 0; request < 3; request++) await ask(account);
    const answer = await ask(account);
    const { minute, day } = usageOf(answer);
    const { headers } = answer;
    const told = /^"minute";r=(\d+);t=(\d+), "day";r=(\d+);t=(\d+)$/.exec(headers.ratelimit ?? '')?.map(Number) ?? [];
    const left = ({ resetsAt }: Window) => (Date.parse(resetsAt) - Date.now()) / 1_000;

    expect([minute.remaining, day.remaining]).toEqual([told[1], told[3]]);
    expect([minute.remaining, day.remaining]).toEqual([56, 996]);
    expect(headers['ratelimit-policy']).toBe(`"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '56' });
    expect(Math.abs(Number(headers['x-ratelimit-reset']) - Date.parse(minute.resetsAt) / 1_000)).toBeLessThan(2);
    expect(Math.abs((told[2] ?? 0) - left(minute))).toBeLessThan(2);
    expect(Math.abs((told[4] ?? 0) - left(day))).toBeLessThan(2);
  });

  it('with windows that go on where they are anchored', async () => {
    const account = await api.signUp('free');
    const first = usageOf(await ask(account));
    const second = usageOf(await ask(account));
    expect(second.minute.resetsAt).toBe(first.minute.resetsAt);
    expect(second.day.resetsAt).toBe(first.day.resetsAt);
  });

  it('with what all keys have used on all processes', async () => {
    const account = await api.signUp('free');
    const { key } = await api.createKey(account.key, { scopes: ['messages:read'] });
    for (const process of [api, other]) {
      await Promise.all(Array.from({ length: 5 }, () => process.ask(key, 'GET /messages')));
    }
    expect(await used(account)).toEqual({ minute: 12, day: 12 });
  });

  it('with what was used when limits change, and without what was refused', async () => {
    const account = await api.signUp({ perMinute: 3, perDay: 10 });
    for (let request = 0; request < 3; request++) await ask(account);
    expect((await ask(account)).status).toBe(429);
    const limits = { perMinute: 1_000, perDay: 1_000 };
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { limits });

    const { minute, day } = usageOf(await other.ask(account.key, 'GET /account/usage'));
    expect([minute.limit, minute.used, minute.remaining]).toEqual([1_000, 4, 996]);
    expect([day.limit, day.used, day.remaining]).toEqual([1_000, 4, 996]);
  });

  it('with nothing remaining once the limit is used', async () => {
    const account = await api.signUp({ perMinute: 10, perDay: 2 });
    await ask(account);
    const { minute, day } = usageOf(await ask(account));
    expect([minute.remaining, day.remaining]).toEqual([8, 0]);
  });

  it('with a new minute in the same day when the minute has ended', async () => {
    const account = await api.signUp('free');
    for (let request = 0; request < 3; request++) await ask(account);
    await api.sql('UPDATE sluice.rate_limits SET minute_ends_ms = 1 WHERE account_id = $1', [account.id]);
    expect(await used(account)).toEqual({ minute: 1, day: 4 });
  });
});
