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
import { until } from '../../support/processes.js';
import { joinedApi, OPERATOR, ownApi, type Account } from '../../support/api.js';

const refused = (count: number) => Array<string>(count).fill(REFUSED);

describe('A key that continues after a refusal', () => {
  const api = ownApi({ BAN_GRACE_SECONDS: '1' });
  const other = joinedApi(api);

  const offence = async ({ keyId }: Account) => {
    const text = 'SELECT bans, banned_until_ms FROM sluice.offences WHERE key_id = $1';
    return (await api.sql<{ bans: number; banned_until_ms: string }>(text, [keyId]))[0];
  };

  it('is banned by the 30th strike from BAN_GRACE_SECONDS after its first refusal, whose response already names the ban', async () => {
    const holder = await api.signUp('free');
    await setWindows(api, holder, { minuteUsed: 60 });
    expect(kindOf(await api.ask(holder))).toBe(REFUSED);
    await sleep(1_050);
    const responses = await series(api, holder, 32);

    expect(responses.map(kindOf)).toEqual([...refused(29), BANNED, BANNED, BANNED]);
    for (const response of responses.slice(29)) {
      expect(numberIn(response, 'retry-after')).toBeGreaterThan(50);
      expect(numberIn(response, 'retry-after')).toBeLessThanOrEqual(60);
    }
  });

  it('is banned for everything that it sends in parallel from the 30th strike on', async () => {
    const holder = await offender(api, 25);
    const responses = await burst([api], holder, 100);

    const { [REFUSED]: refused = 0, [BANNED]: banned = 0 } = tally(responses);
    expect(refused + banned).toBe(100);
    // A process refuses a few from memory while the store decides about others.
    expect(refused).toBeGreaterThanOrEqual(4);
    expect(refused).toBeLessThan(20);
    expect(await offence(holder)).toMatchObject({ bans: 1 });
  });

  it('gets the reason and the duration, which operators see as well', async () => {
    const holder = await offender(api, 29);
    const response = await api.ask(holder);
    const { body, headers } = response;
    const [ban] = (await api.ask(OPERATOR, 'GET /admin/bans?limit=1')).body.data as Record<string, string>[];

    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(body).toEqual({
      ...{ type: '/errors/api_key_banned', title: 'The API key is temporarily banned', status: 429 },
      detail: `This key is banned because it kept sending after 429 responses. Send nothing with it for ${numberIn(response, 'retry-after')} s.`,
      ...{ code: 'api_key_banned', requestId: headers['x-request-id'] },
    });
    expect(ban).toEqual({
      ...{ keyId: holder.keyId, accountId: holder.id },
      reason: '30 requests within a minute after the limit was exceeded',
      ...{ bannedAt: expect.any(String) as string, bannedUntil: expect.any(String) as string },
    });
    expect(Date.parse(ban?.bannedUntil ?? '') - Date.parse(ban?.bannedAt ?? '')).toBe(60_000);
  });

  it('is banned alone: other keys of the account pass once the limit allows it', async () => {
    const holder = await api.signUp('free');
    const second = await anotherKey(api, holder);
    await offender(api, 29, holder);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);

    await setWindows(api, holder, { minuteUsed: 0 });
    expect((await api.ask(second)).status).toBe(200);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
  });

  it('does not prolong its ban by further requests', async () => {
    const holder = await offender(api, 29);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    const before = await offence(holder);
    for (let round = 0; round < 5; round++) {
      expect(tally(await burst([api], holder, 50))).toEqual({ [BANNED]: 50 });
      await sleep(300);
    }

    expect(await offence(holder)).toEqual(before);
    expect(numberIn(await api.ask(holder), 'retry-after')).toBeLessThan(60);
  });

  it('may continue when its ban is over, with no strikes', async () => {
    const holder = await offender(api, 29);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    await api.sql('UPDATE sluice.offences SET banned_until_ms = 1 WHERE key_id = $1', [holder.keyId]);
    await sleep(1_000);

    // In the same window there is no second grace.
    expect((await series(api, holder, 30)).map(kindOf)).toEqual([...refused(29), BANNED]);
  });

  it('is banned within a second by an API that refuses from its cache', async () => {
    const holder = await offender(api, 20);
    expect(kindOf(await other.ask(holder))).toBe(REFUSED);
    await series(api, holder, 10);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    await sleep(1_000);

    expect(kindOf(await other.ask(holder))).toBe(BANNED);
  });

  it('is banned for the strikes on two APIs together, once either has reported its own', async () => {
    const holder = await offender(api, 0);
    for (const one of [api, other]) expect(kindOf(await one.ask(holder))).toBe(REFUSED);
    // 2 + 16 + 11 are 29.
    expect(tally(await series(api, holder, 16))).toEqual({ [REFUSED]: 16 });
    expect(tally(await series(other, holder, 11))).toEqual({ [REFUSED]: 11 });
    const text = 'SELECT FROM sluice.offences WHERE key_id = $1 AND strikes = 29';
    await until(async () => (await api.sql(text, [holder.keyId])).length === 1);

    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    expect(kindOf(await other.ask(holder))).toBe(BANNED);
  });

  it('is banned on every API at once, and not within a second after an operator lifts it; the next ban is not doubled', async () => {
    const holder = await offender(api, 29);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    expect(kindOf(await other.ask(holder))).toBe(BANNED);
    await setWindows(api, holder, { minuteUsed: 0 });
    expect((await api.ask(OPERATOR, `DELETE /admin/bans/${holder.keyId}`)).status).toBe(204);
    await sleep(1_000);

    expect((await api.ask(holder)).status).toBe(200);
    expect((await other.ask(holder)).status).toBe(200);
    await offender(api, 29, holder);
    expect(numberIn(await api.ask(holder), 'retry-after')).toBeLessThanOrEqual(60);
  });

  it('is unknown instead of banned once it is revoked', async () => {
    const holder = await api.signUp('free');
    const second = await anotherKey(api, holder);
    await offender(api, 29, second);
    expect(kindOf(await api.ask(second))).toBe(BANNED);
    await setWindows(api, holder, { minuteUsed: 0 });
    await api.ask(holder, `DELETE /api-keys/${second.keyId}`);
    await sleep(1_000);

    expect(kindOf(await api.ask(second))).toBe('401 unauthorized');
    expect(kindOf(await other.ask(second))).toBe('401 unauthorized');
  });
});
