import { setTimeout as sleep } from 'node:timers/promises';
import {
  anotherKey,
  BANNED,
  kindOf,
  numberIn,
  offender,
  REFUSED,
  series,
  setWindows,
  tally,
} from '../../support/limits.js';
import { joinedApi, OPERATOR, ownApi, type Account } from '../../support/api.js';

describe('a ban through two APIs', () => {
  const api = ownApi({ BAN_GRACE_SECONDS: '1' });
  const other = joinedApi(api);

  const lift = ({ keyId }: Account) => api.ask(OPERATOR, `DELETE /admin/bans/${keyId}`);

  it('is seen by the other one with its next request', async () => {
    const holder = await offender(api, 29);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);

    expect(kindOf(await other.ask(holder))).toBe(BANNED);
  });

  it('is seen within a second by one that refuses from memory', async () => {
    const holder = await offender(api, 20);
    expect(kindOf(await other.ask(holder))).toBe(REFUSED);
    await series(api, holder, 10);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    await sleep(1_000);

    expect(kindOf(await other.ask(holder))).toBe(BANNED);
  });

  it('comes of the strikes of both together, once either has told of its own', async () => {
    const holder = await offender(api, 0);
    for (const one of [api, other]) expect(kindOf(await one.ask(holder))).toBe(REFUSED);
    // 2 + 16 + 11 are 29.
    expect(tally(await series(api, holder, 16))).toEqual({ [REFUSED]: 16 });
    expect(tally(await series(other, holder, 11))).toEqual({ [REFUSED]: 11 });
    await sleep(1_200);

    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    expect(kindOf(await other.ask(holder))).toBe(BANNED);
  });

  it('ends on both within a second when an operator lifts it, and the next one does not double', async () => {
    const holder = await offender(api, 29);
    expect(kindOf(await api.ask(holder))).toBe(BANNED);
    expect(kindOf(await other.ask(holder))).toBe(BANNED);
    await setWindows(api, holder, { minuteUsed: 0 });
    expect((await lift(holder)).status).toBe(204);
    await sleep(1_000);

    expect((await api.ask(holder)).status).toBe(200);
    expect((await other.ask(holder)).status).toBe(200);
    await offender(api, 29, holder);
    expect(numberIn(await api.ask(holder), 'retry-after')).toBe(60);
  });

  it('can be lifted once', async () => {
    const holder = await offender(api, 29);
    await api.ask(holder);

    expect(kindOf(await lift(holder))).toBe('204');
    expect(kindOf(await lift(holder))).toBe('404 ban_not_found');
  });

  it('ends with the key: once that is revoked, it is as unknown as any', async () => {
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
