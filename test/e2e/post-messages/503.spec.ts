import { accountForEach, expectProblem, ownApi } from '../../support/api.js';
import { Link } from '../../support/link.js';

describe('POST /messages responds 503 unavailable', () => {
  const link = new Link();
  const api = ownApi({}, link);
  const account = accountForEach(api);

  const sendWithKey = (message = 'hello') => api.send(account, { message, headers: { 'idempotency-key': 'key' } });

  it('while the database is away, and 202 when it is back', async () => {
    await link.cut();
    const answer = await sendWithKey();
    await link.restore();

    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    expect((await sendWithKey()).status).toBe(202);
  });

  it('to many at once while the database is away', async () => {
    await api.sent(account);
    await link.cut();
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.send(account)));
    await link.restore();

    for (const answer of answers) expectProblem(answer, 503, 'unavailable');
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 0 });
  });

  it('when the answer to the commit was lost, and then replays what was stored', async () => {
    await api.sent(account);
    link.loseAnswerTo('a message whose commit nobody hears of');
    const lost = await sendWithKey('a message whose commit nobody hears of');
    const again = await sendWithKey('a message whose commit nobody hears of');

    expectProblem(lost, 503, 'unavailable');
    expect(again.status).toBe(202);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await api.stored(account)).toEqual({ messages: 2, keys: 1 });
  });
});
