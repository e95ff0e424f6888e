import { setTimeout as sleep } from 'node:timers/promises';
import {
  anotherKey,
  BANNED,
  burst,
  kindOf,
  numberIn,
  offender,
  REFUSED,
  series,
  setWindows,
  tally,
} from '../../support/limits.js';
import { OPERATOR, ownApi, type Account } from '../../support/api.js';

const GRACE = 1_000;
const refused = (count: number) => Array<string>(count).fill(REFUSED);

describe('a key that goes on after a refusal', () => {
  const api = ownApi({ BAN_GRACE_SECONDS: String(GRACE / 1_000) });

  const offence = async ({ keyId }: Account) => {
    const text = 'SELECT bans, banned_until_ms FROM sluice.offences WHERE key_id = $1';
    return (await api.sql<{ bans: number; banned_until_ms: string }>(text, [keyId]))[0];
  };

  it('is banned by the 30th strike from BAN_GRACE_SECONDS after its first refusal, which says so already', async () => {
    const holder = await api.signUp('free');
    await setWindows(api, holder, { minuteUsed: 60 });
    expect(kindOf(await api.ask(holder))).toBe(REFUSED);
    await sleep(GRACE + 50);
    const answers = await series(api, holder, 32);

    expect(answers.map(kindOf)).toEqual([...refused(29), BANNED, BANNED, BANNED]);
    expect(answers.slice(29).map((answer) => numberIn(answer, 'retry-after'))).toEqual([60, 60, 60]);
  });

  it('is banned by as many strikes as a tenth of its limit per minute, if that is more', async () => {
    const holder = await offender(api, 30);
    await api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, {
      plan: 'enterprise',
      limits: { perMinute: 400, perDay: 1_000 },
    });
    await setWindows(api, holder, { dayUsed: 1_000 });
    await api.sql(
      `UPDATE sluice.offences o SET refusing_window_ends_ms = day_ends_ms
       FROM sluice.rate_limits r WHERE r.account_id = o.account_id AND key_id = $1`,
      [holder.keyId],
    );

    expect((await series(api, holder, 11)).map(kindOf)).toEqual([...refused(9), BANNED, BANNED]);
  });

  it('is banned with all that it sends at once from the 30th strike on', async () => {
    const holder = await offender(api, 25);
    const answers = await burst([api], holder, 100);

    expect(tally(answers)).toEqual({ [REFUSED]: 4, [BANNED]: 96 });
    expect(await offence(holder)).toMatchObject({ bans: 1 });
  });

  it('is not banned for strikes that do not fall within one minute', async () => {
    const holder = await offender(api, 29);
    await api.sql('UPDATE sluice.offences SET strikes_end_ms = 1 WHERE key_id = $1', [holder.keyId]);

    expect((await series(api, holder, 30)).map(kindOf)).toEqual([...refused(29), BANNED]);
  });

  it('gets the reason and the duration', async () => {
    const { body, headers } = await api.ask(await offender(api, 29));

    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(body).toEqual({
      ...{ type: '/errors/api_key_banned', title: 'The API key is temporarily banned', status: 429 },
      detail: 'This key continued after its limit was exceeded. Stop, wait 60 s, and respect Retry-After.',
      ...{ code: 'api_key_banned', requestId: headers['x-request-id'] },
    });
  });

  it('is shown to operators, with the reason', async () => {
    const holder = await offender(api, 29);
    await api.ask(holder);
    const { body } = await api.ask(OPERATOR, 'GET /admin/bans?limit=1');
    const [ban] = body.data as Record<string, string>[];

    expect(ban).toEqual({
      ...{ keyId: holder.keyId, accountId: holder.id },
      reason: '30 requests within a minute after the limit was exceeded',
      ...{ bannedAt: expect.any(String) as string, bannedUntil: expect.any(String) as string },
    });
    expect(Date.parse(ban?.bannedUntil ?? '') - Date.parse(ban?.bannedAt ?? '')).toBe(60_000);
  });

  it('is banned alone: other keys of the account pass when there is room again', async () => {
    const holder = await api.signUp('free');
    const other = await anotherKey(api, holder);
    await offender(api, 29, holder);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);

    await setWindows(api, holder, { minuteUsed: 0 });
    expect((await api.ask(other)).status).toBe(200);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
  });

  it('does not prolong its ban by going on', async () => {
    const holder = await offender(api, 29);
    expect(numberIn(await api.ask(holder), 'retry-after')).toBe(60);
    const before = await offence(holder);
    for (let round = 0; round < 5; round++) {
      expect(tally(await burst([api], holder, 50))).toEqual({ [BANNED]: 50 });
      await sleep(300);
    }

    expect(await offence(holder)).toEqual(before);
    expect(numberIn(await api.ask(holder), 'retry-after')).toBeLessThan(60);
  });

  it('may go on when its ban is over, and its strikes start anew', async () => {
    const holder = await offender(api, 29);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    await api.sql('UPDATE sluice.offences SET banned_until_ms = 1 WHERE key_id = $1', [holder.keyId]);
    await sleep(1_000);

    // The window that refused it is still the same, so there is no further grace.
    expect((await series(api, holder, 30)).map(kindOf)).toEqual([...refused(29), BANNED]);
  });

  it('has a grace in each window anew', async () => {
    const holder = await offender(api, 29);
    await setWindows(api, holder, { minuteUsed: 60, minuteLeft: 50_000 });

    expect(tally(await burst([api], holder, 100))).toEqual({ [REFUSED]: 100 });
  });
});
