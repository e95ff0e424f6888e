import {
  anotherKey,
  burst,
  expectDownToZero,
  numberIn,
  REFUSED,
  setWindows,
  shown,
  tally,
} from '../../support/limits.js';
import { joinedApi, OPERATOR, ownApi, type Account } from '../../support/api.js';

const LIMIT = 60;

describe('of 240 parallel requests through two APIs', () => {
  const api = ownApi({ BAN_GRACE_SECONDS: '50' });
  const apis = [api, joinedApi(api)];

  async function expectExactly(holder: Account, limit: number): Promise<void> {
    const responses = await burst(apis, holder, 240);

    expect(tally(responses)).toEqual({ 200: LIMIT, [REFUSED]: 240 - LIMIT });
    expectDownToZero(responses, LIMIT);
    for (const response of responses.filter(({ status }) => status === 429)) {
      expect(shown(response).remaining).toBe(0);
      expect(numberIn(response, 'retry-after')).toBeGreaterThanOrEqual(1);
    }
    expect(new Set(responses.map((response) => shown(response).limit))).toEqual(new Set([limit]));
  }

  it('exactly 60 pass on the plan free, and each remaining number is returned once', async () => {
    await expectExactly(await api.signUp('free'), 60);
  });

  it('exactly those pass that the day has left', async () => {
    const holder = await api.signUp('free');
    await api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, { plan: 'business' });
    await setWindows(api, holder, { minuteUsed: 1, dayUsed: 100_000 - LIMIT });

    await expectExactly(holder, 100_000);
  });

  it('exactly 60 pass whichever key of the account they carry', async () => {
    const first = await api.signUp({ perMinute: LIMIT + 1, perDay: 500 });
    const second = await anotherKey(api, first);
    const responses = await Promise.all([burst(apis, first, 120), burst(apis, second, 120)]);

    expect(tally(responses.flat())).toEqual({ 200: LIMIT, [REFUSED]: 240 - LIMIT });
    expectDownToZero(responses.flat(), LIMIT);
  });

  it('and of 500, none gets its key banned, nor what comes within BAN_GRACE_SECONDS', async () => {
    const holder = await api.signUp('free');
    expect(tally(await burst(apis, holder, 500))).toEqual({ 200: LIMIT, [REFUSED]: 500 - LIMIT });
    expect(tally(await burst(apis, holder, 100))).toEqual({ [REFUSED]: 100 });
    const offences = await api.sql('SELECT strikes, bans FROM sluice.offences WHERE key_id = $1', [holder.keyId]);
    expect(offences).toEqual([{ strikes: 0, bans: 0 }]);
  });
});
