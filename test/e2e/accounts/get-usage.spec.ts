import { sharedApi, type Account } from '../../support/api.js';
import { type HttpResponse } from '../../support/http.js';

interface Window {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: string;
}
interface Usage extends Readonly<Record<'minute' | 'day', Window>> {
  readonly messages: Readonly<Record<string, unknown>>;
}

const usageOf = (response: HttpResponse) => response.body as unknown as Usage;

describe('GET /account/usage responds 200', () => {
  const api = sharedApi();

  const ask = (account: Account) => api.ask(account, 'GET /account/usage');

  it('with both windows, which count this request', async () => {
    const response = await ask(await api.signUp('free'));
    const now = Date.now();
    const { minute, day, ...rest } = usageOf(response);
    const [minuteLeft, dayLeft] = [minute, day].map(({ resetsAt }) => Date.parse(resetsAt) - now);

    expect(response.status).toBe(200);
    const nothing = { queued: 0, oldestQueuedAt: null, scheduled: 0, deliveredPerMinute: 0 };
    expect(rest).toEqual({ messages: nothing, storage: { limitBytes: 1_024 * 1_048_576, usedBytes: 0 } });
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

  it('with the numbers in its headers', async () => {
    const account = await api.signUp('free');
    for (let request = 0; request < 3; request++) await ask(account);
    const response = await ask(account);
    const { minute, day } = usageOf(response);
    const { headers } = response;
    const sent = /^"minute";r=(\d+);t=(\d+), "day";r=(\d+);t=(\d+)$/.exec(headers.ratelimit ?? '')?.map(Number) ?? [];
    const left = ({ resetsAt }: Window) => (Date.parse(resetsAt) - Date.now()) / 1_000;

    expect([minute.remaining, day.remaining]).toEqual([sent[1], sent[3]]);
    expect([minute.remaining, day.remaining]).toEqual([56, 996]);
    expect(headers['ratelimit-policy']).toBe(`"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '56' });
    expect(Math.abs(Number(headers['x-ratelimit-reset']) - Date.parse(minute.resetsAt) / 1_000)).toBeLessThan(10);
    expect(Math.abs((sent[2] ?? 0) - left(minute))).toBeLessThan(10);
    expect(Math.abs((sent[4] ?? 0) - left(day))).toBeLessThan(10);
  });
});
