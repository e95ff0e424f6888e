import { LimitedApis, numberIn, REFUSED, remainingOf, shown, tally, type Holder } from '../../support/limits.js';

const LIMIT = 60;
const DOWN_TO_ZERO = Array.from({ length: LIMIT }, (_, index) => LIMIT - 1 - index);

describe.each([
  ['one API', 1],
  ['two APIs', 2],
])('of 240 parallel requests through %s', (_name, apis) => {
  let limited: LimitedApis;

  beforeAll(async () => {
    limited = await LimitedApis.start({ BAN_GRACE_SECONDS: '20' }, { apis });
  });
  afterAll(() => limited.stop());

  async function expectExactly(holder: Holder, limit: number): Promise<void> {
    const answers = await limited.burst(holder, 240);

    expect(tally(answers)).toEqual({ 200: LIMIT, [REFUSED]: 240 - LIMIT });
    expect(remainingOf(answers)).toEqual(DOWN_TO_ZERO);
    for (const answer of answers.filter(({ status }) => status === 429)) {
      expect(shown(answer).remaining).toBe(0);
      expect(numberIn(answer, 'retry-after')).toBeGreaterThanOrEqual(1);
    }
    expect(new Set(answers.map((answer) => shown(answer).limit))).toEqual(new Set([limit]));
  }

  it('exactly 60 pass on the plan free, and each remaining number is told once', async () => {
    await expectExactly(await limited.signUp(), 60);
  });

  it('exactly those pass that the day has left', async () => {
    const holder = await limited.signUp();
    await limited.change(holder.accountId, { plan: 'business' });
    await limited.setWindows(holder, { minuteUsed: 1, dayUsed: 100_000 - LIMIT });

    await expectExactly(holder, 100_000);
  });

  it('exactly those pass that were agreed individually', async () => {
    await expectExactly(await limited.signUp({ perMinute: LIMIT, perDay: 500 }), LIMIT);
  });

  it('exactly 60 pass whichever key of the account they carry', async () => {
    const first = await limited.signUp({ perMinute: LIMIT + 1, perDay: 500 });
    const second = await limited.anotherKey(first);
    const answers = await Promise.all([limited.burst(first, 120), limited.burst(second, 120)]);

    expect(tally(answers.flat())).toEqual({ 200: LIMIT, [REFUSED]: 240 - LIMIT });
    expect(remainingOf(answers.flat())).toEqual(DOWN_TO_ZERO);
  });

  it('and of 500, none gets its key banned, nor what comes within BAN_GRACE_SECONDS', async () => {
    const holder = await limited.signUp();
    expect(tally(await limited.burst(holder, 500))).toEqual({ 200: LIMIT, [REFUSED]: 500 - LIMIT });
    expect(tally(await limited.burst(holder, 100))).toEqual({ [REFUSED]: 100 });
    const offences = await limited.sql('SELECT strikes, bans FROM sluice.offences WHERE key_id = $1', [holder.keyId]);
    expect(offences).toEqual([{ strikes: 0, bans: 0 }]);
  });

  it('those of one account take nothing from another', async () => {
    const [one, other] = [await limited.signUp(), await limited.signUp()];
    const answers = await Promise.all([limited.burst(one, 120), limited.burst(other, 120)]);

    const both = { 200: LIMIT, [REFUSED]: 120 - LIMIT };
    expect(answers.map(tally)).toEqual([both, both]);
    expect(answers.map(remainingOf)).toEqual([DOWN_TO_ZERO, DOWN_TO_ZERO]);
  });
});
