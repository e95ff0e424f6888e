import { setTimeout as sleep } from 'node:timers/promises';
import { BANNED, kindOf, LimitedApis, numberIn, REFUSED, tally, type Holder } from '../../support/limits.js';

const HERE = { api: 0 };
const THERE = { api: 1 };

describe('a ban through two APIs', () => {
  let limited: LimitedApis;

  beforeAll(async () => {
    limited = await LimitedApis.start({ BAN_GRACE_SECONDS: '1' }, { apis: 2 });
  });
  afterAll(() => limited.stop());

  const lift = ({ keyId }: Holder) => limited.operate({ method: 'DELETE', path: `/admin/bans/${keyId}` });

  it('is seen by the other one with its next request', async () => {
    const holder = await limited.offender(29);
    expect(kindOf(await limited.ask(holder, HERE))).toBe(BANNED);

    expect(kindOf(await limited.ask(holder, THERE))).toBe(BANNED);
  });

  it('is seen within a second by one that refuses from memory', async () => {
    const holder = await limited.offender(20);
    expect(kindOf(await limited.ask(holder, THERE))).toBe(REFUSED);
    await limited.series(holder, 10, HERE);
    expect(kindOf(await limited.ask(holder, HERE))).toBe(BANNED);
    await sleep(1_000);

    expect(kindOf(await limited.ask(holder, THERE))).toBe(BANNED);
  });

  it('comes of the strikes of both together, once either has told of its own', async () => {
    const holder = await limited.offender(0);
    for (const where of [HERE, THERE]) expect(kindOf(await limited.ask(holder, where))).toBe(REFUSED);
    // 2 + 16 + 11 are 29.
    expect(tally(await limited.series(holder, 16, HERE))).toEqual({ [REFUSED]: 16 });
    expect(tally(await limited.series(holder, 11, THERE))).toEqual({ [REFUSED]: 11 });
    await sleep(1_200);

    expect(kindOf(await limited.ask(holder, HERE))).toBe(BANNED);
    expect(kindOf(await limited.ask(holder, THERE))).toBe(BANNED);
  });

  it('ends on both within a second when an operator lifts it, and the next one does not double', async () => {
    const holder = await limited.offender(29);
    expect(kindOf(await limited.ask(holder, HERE))).toBe(BANNED);
    expect(kindOf(await limited.ask(holder, THERE))).toBe(BANNED);
    await limited.setWindows(holder, { minuteUsed: 0 });
    expect((await lift(holder)).status).toBe(204);
    await sleep(1_000);

    expect((await limited.ask(holder, HERE)).status).toBe(200);
    expect((await limited.ask(holder, THERE)).status).toBe(200);
    await limited.offender(29, holder);
    expect(numberIn(await limited.ask(holder, HERE), 'retry-after')).toBe(60);
  });

  it('can be lifted once', async () => {
    const holder = await limited.offender(29);
    await limited.ask(holder);

    expect(kindOf(await lift(holder))).toBe('204');
    expect(kindOf(await lift(holder))).toBe('404 ban_not_found');
  });

  it('ends with the key: once that is revoked, it is as unknown as any', async () => {
    const holder = await limited.signUp();
    const other = await limited.anotherKey(holder);
    await limited.offender(29, other);
    expect(kindOf(await limited.ask(other, HERE))).toBe(BANNED);
    await limited.setWindows(holder, { minuteUsed: 0 });
    await limited.ask(holder, { method: 'DELETE', path: `/api-keys/${other.keyId}` });
    await sleep(1_000);

    expect(kindOf(await limited.ask(other, HERE))).toBe('401 unauthorized');
    expect(kindOf(await limited.ask(other, THERE))).toBe('401 unauthorized');
  });
});
