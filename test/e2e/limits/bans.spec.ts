import { setTimeout as sleep } from 'node:timers/promises';
import { BANNED, kindOf, LimitedApis, numberIn, REFUSED, tally, type Holder } from '../../support/limits.js';

const GRACE = 1_000;
const refused = (count: number) => Array<string>(count).fill(REFUSED);

describe('a key that goes on after it was told', () => {
  let limited: LimitedApis;

  beforeAll(async () => {
    limited = await LimitedApis.start({ BAN_GRACE_SECONDS: String(GRACE / 1_000) });
  });
  afterAll(() => limited.stop());

  const offence = async ({ keyId }: Holder) => {
    const text = 'SELECT bans, banned_until_ms FROM sluice.offences WHERE key_id = $1';
    return (await limited.sql<{ bans: number; banned_until_ms: string }>(text, [keyId]))[0];
  };

  it('is banned by the 30th strike from BAN_GRACE_SECONDS after its first refusal, which says so already', async () => {
    const holder = await limited.signUp();
    await limited.setWindows(holder, { minuteUsed: 60 });
    expect(kindOf(await limited.ask(holder))).toBe(REFUSED);
    await sleep(GRACE + 50);
    const answers = await limited.series(holder, 32);

    expect(answers.map(kindOf)).toEqual([...refused(29), BANNED, BANNED, BANNED]);
    expect(answers.slice(29).map((answer) => numberIn(answer, 'retry-after'))).toEqual([60, 60, 60]);
  });

  it('is banned by as many strikes as a tenth of its limit per minute, if that is more', async () => {
    const holder = await limited.offender(30);
    await limited.change(holder.accountId, { plan: 'enterprise', limits: { perMinute: 400, perDay: 1_000 } });
    await limited.setWindows(holder, { dayUsed: 1_000 });
    await limited.sql(
      `UPDATE sluice.offences o SET refusing_window_ends_ms = day_ends_ms
       FROM sluice.rate_limits r WHERE r.account_id = o.account_id AND key_id = $1`,
      [holder.keyId],
    );

    expect((await limited.series(holder, 11)).map(kindOf)).toEqual([...refused(9), BANNED, BANNED]);
  });

  it('is banned with all that it sends at once from the 30th strike on', async () => {
    const holder = await limited.offender(25);
    const answers = await limited.burst(holder, 100);

    expect(tally(answers)).toEqual({ [REFUSED]: 4, [BANNED]: 96 });
    expect(await offence(holder)).toMatchObject({ bans: 1 });
  });

  it('is not banned for strikes that do not fall within one minute', async () => {
    const holder = await limited.offender(29);
    await limited.sql('UPDATE sluice.offences SET strikes_end_ms = 1 WHERE key_id = $1', [holder.keyId]);

    expect((await limited.series(holder, 30)).map(kindOf)).toEqual([...refused(29), BANNED]);
  });

  it('is told why, and how long it takes', async () => {
    const { body, headers } = await limited.ask(await limited.offender(29));

    expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(body).toEqual({
      ...{ type: '/errors/api_key_banned', title: 'The API key is banned for a while', status: 429 },
      detail: 'This key went on after its limit was exceeded. Stop, wait 60 s, and honour Retry-After.',
      ...{ code: 'api_key_banned', requestId: headers.get('x-request-id') },
    });
  });

  it('is shown to operators, with the reason', async () => {
    const holder = await limited.offender(29);
    await limited.ask(holder);
    const { body } = await limited.operate({ path: '/admin/bans?limit=1' });
    const [ban] = body.data as Record<string, string>[];

    expect(ban).toEqual({
      ...{ keyId: holder.keyId, accountId: holder.accountId },
      reason: '30 requests within a minute after the limit was exceeded',
      ...{ bannedAt: expect.any(String) as string, bannedUntil: expect.any(String) as string },
    });
    expect(Date.parse(ban?.bannedUntil ?? '') - Date.parse(ban?.bannedAt ?? '')).toBe(60_000);
  });

  it('is banned alone: other keys of the account pass when there is room again', async () => {
    const holder = await limited.signUp();
    const other = await limited.anotherKey(holder);
    await limited.offender(29, holder);
    expect(kindOf(await limited.ask(holder))).toBe(BANNED);

    await limited.setWindows(holder, { minuteUsed: 0 });
    expect((await limited.ask(other)).status).toBe(200);
    expect(kindOf(await limited.ask(holder))).toBe(BANNED);
  });

  it('does not prolong its ban by going on', async () => {
    const holder = await limited.offender(29);
    expect(numberIn(await limited.ask(holder), 'retry-after')).toBe(60);
    const before = await offence(holder);
    for (let burst = 0; burst < 5; burst++) {
      expect(tally(await limited.burst(holder, 50))).toEqual({ [BANNED]: 50 });
      await sleep(300);
    }

    expect(await offence(holder)).toEqual(before);
    expect(numberIn(await limited.ask(holder), 'retry-after')).toBeLessThan(60);
  });

  it('may go on when its ban is over, and its strikes start anew', async () => {
    const holder = await limited.offender(29);
    expect(kindOf(await limited.ask(holder))).toBe(BANNED);
    await limited.sql('UPDATE sluice.offences SET banned_until_ms = 1 WHERE key_id = $1', [holder.keyId]);
    await sleep(1_000);

    // The window that refused it is still the same, so there is no further grace.
    expect((await limited.series(holder, 30)).map(kindOf)).toEqual([...refused(29), BANNED]);
  });

  it('has a grace in each window anew', async () => {
    const holder = await limited.offender(29);
    await limited.setWindows(holder, { minuteUsed: 60, minuteLeft: 50_000 });

    expect(tally(await limited.burst(holder, 100))).toEqual({ [REFUSED]: 100 });
  });
});
