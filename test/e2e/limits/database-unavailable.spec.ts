import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpResponse } from '../../support/http.js';
import { kindOf, shown, tally } from '../../support/limits.js';
import { ownApi, type Account } from '../../support/api.js';
import { until } from '../../support/processes.js';
import { Link } from '../../support/link.js';

describe('While the database is unavailable', () => {
  const link = new Link();
  const api = ownApi({}, link);
  let holder: Account;
  beforeEach(async () => {
    holder = await api.signUp('free');
    await api.ask(holder);
  });

  it('requests that do not need it get their responses', async () => {
    await link.cut();
    const responses = [
      await api.ask({ key: 'wrong' }),
      await api.ask(null, 'GET /unknown'),
      await api.ask(null, 'PUT /account'),
    ];
    await link.restore();

    expect(responses.map(kindOf)).toEqual(['401 unauthorized', '404 not_found', '405 method_not_allowed']);
    for (const response of responses) expect(shown(response).remaining).toBeGreaterThan(0);
  });

  it('nothing passes uncounted, however often it stops and comes back', async () => {
    const statuses: number[] = [];
    let ended = false;
    const caller = async () => {
      while (!ended) {
        statuses.push((await api.ask(holder, 'GET /unknown')).status);
        await sleep(20);
      }
    };
    const callers = Array.from({ length: 8 }, caller);
    for (let round = 0; round < 3; round++) {
      await link.cut();
      await sleep(50);
      if (round === 0) await until(() => statuses.includes(503));
      await link.restore();
      await sleep(100);
    }
    await until(() => statuses.includes(404));
    ended = true;
    await Promise.all(callers);
    // A count whose result was lost admitted nothing.
    const text = 'SELECT minute_used FROM sluice.rate_limits WHERE account_id = $1';
    const [counted] = await api.sql<{ minute_used: number }>(text, [holder.id]);
    const passed = statuses.filter((status) => status === 404).length;

    expect(counted?.minute_used).toBeGreaterThanOrEqual(passed + 1);
  });

  it('a key that is revoked meanwhile gets no success from a second later on, not even when the link is back', async () => {
    const reader = await api.signUp();
    const responses: { at: number; response: HttpResponse }[] = [];
    let ended = false;
    const caller = async (method: string) => {
      while (!ended) {
        const response = await (method === 'POST' ? api.send(reader) : api.ask(reader, `${method} /account`));
        responses.push({ at: performance.now(), response });
        if (response.status >= 400) await sleep(20);
      }
    };
    const callers = ['GET', 'GET', 'HEAD', 'POST', 'POST', 'GET'].map(caller);
    await until(() => responses.length > 30);
    link.stall();
    await api.sql('UPDATE sluice.api_keys SET revoked_at = now() WHERE id = $1', [reader.keyId]);
    // The second, and time for a busy machine to read a response that was sent before.
    const deadline = performance.now() + 2_500;
    await sleep(3_000);
    link.resume();
    await until(() => responses.some(({ response }) => kindOf(response) === '401 unauthorized'));
    ended = true;
    await Promise.all(callers);

    const late = tally(responses.filter(({ at }) => at > deadline).map(({ response }) => response));
    expect(Object.keys(late).filter((kind) => kind.startsWith('2'))).toEqual([]);
    expect(late['401 unauthorized']).toBeGreaterThan(0);
  });
});
