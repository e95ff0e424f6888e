import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer } from '../../support/http.js';
import { numberIn, shown } from '../../support/limits.js';
import { ownApi, type Account } from '../../support/api.js';
import { Link } from '../../support/link.js';

describe('without the store of the counters', () => {
  const link = new Link();
  const api = ownApi({}, link);
  let holder: Account;
  beforeEach(async () => {
    holder = await api.signUp('free');
    await api.ask(holder);
  });

  const used = async () => {
    const text = 'SELECT minute_used AS used FROM sluice.rate_limits WHERE account_id = $1';
    return (await api.sql<{ used: number }>(text, [holder.id]))[0]?.used ?? 0;
  };
  const expectAway = (answer: Answer, limit: number) => {
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
    expect(numberIn(answer, 'retry-after')).toBe(1);
    const { resetsIn, ...others } = shown(answer);
    expect(others).toEqual({ limit, remaining: 0 });
    expect(resetsIn).toBeGreaterThan(0);
    expect(resetsIn).toBeLessThanOrEqual(2);
    const states = answer.headers.ratelimit?.match(/r=0;t=1(?=,|$)/g);
    expect(states).toHaveLength(answer.headers['ratelimit-policy']?.split(', ').length ?? 0);
  };

  it('requests get 503: nothing remains until Retry-After', async () => {
    const unseen = await api.signUp('free');
    await link.cut();
    const [known, unknown] = [await api.ask(holder), await api.ask(unseen)];
    await link.restore();

    expectAway(known, 60);
    // Whose key it is can't be told, so this is the limit of the address.
    expectAway(unknown, 1_000_000);
    await sleep(1_000);
    expect((await api.ask(holder)).status).toBe(200);
  });

  it('what needs no counter in it is answered as ever', async () => {
    await link.cut();
    const answers = [await api.ask(null, 'GET /unknown'), await api.ask({ key: 'wrong' })];
    await link.restore();

    expect(answers.map(({ status }) => status)).toEqual([404, 401]);
    for (const answer of answers) expect(shown(answer).remaining).toBeGreaterThan(0);
  });

  it('nothing passes uncounted, however often it goes and comes back', async () => {
    const before = await used();
    let passed = 0;
    let away = 0;
    let ended = false;
    const caller = async () => {
      while (!ended) {
        const { status } = await api.ask(holder, 'GET /unknown');
        if (status === 404) passed++;
        if (status === 503) away++;
        await sleep(20);
      }
    };
    const callers = Array.from({ length: 8 }, caller);
    for (let round = 0; round < 3; round++) {
      await link.cut();
      await sleep(50);
      await link.restore();
      await sleep(100);
    }
    ended = true;
    await Promise.all(callers);
    // What was counted while its answer was lost had passed nowhere.
    const counted = (await used()) - before;

    expect(away).toBeGreaterThan(0);
    expect(passed).toBeGreaterThan(0);
    expect(counted).toBeGreaterThanOrEqual(passed);
  });

  it('nothing passes while the counters alone are out of order', async () => {
    await api.sql('ALTER TABLE sluice.rate_limits RENAME TO gone');
    const answers = await Promise.all([1, 2, 3].map(() => api.ask(holder, 'GET /account')));
    await api.sql('ALTER TABLE sluice.gone RENAME TO rate_limits');

    expect(answers.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect((await api.ask(holder)).status).toBe(200);
  });
});
