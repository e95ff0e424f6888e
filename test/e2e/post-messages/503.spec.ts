import { accountForEach, expectProblem, ownApi } from '../../support/api.js';
import { Link } from '../../support/link.js';

const textsOf = (kind: string) => Array.from({ length: 300 }, (_, index) => `${kind} ${index}`);
const headers = { 'idempotency-key': 'key' };

describe('POST /messages and POST /messages/batch respond 503 unavailable', () => {
  const link = new Link();
  const api = ownApi({}, link);
  const account = accountForEach(api);

  const send = (kind: string) => api.send(account, { message: `${kind} 7`, headers });
  const sendBatch = (kind: string) => api.sendBatch(account, { messages: textsOf(kind), headers });
  const routes = [
    ['/messages', send, 1],
    ['/messages/batch', sendBatch, 300],
  ] as const;

  it.each(routes)('while the database is away, and 202 when it is back: %s', async (_path, request) => {
    await link.cut();
    const responses = await Promise.all([request('away'), ...Array.from({ length: 50 }, () => api.send(account))]);
    await link.restore();

    for (const response of responses) {
      expectProblem(response, 503, 'unavailable');
      expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    expect((await request('away')).status).toBe(202);
  });

  it.each(routes)(
    'when the outcome of the commit is unknown; a repetition replays it: %s',
    async (path, request, count) => {
      await api.sent(account);
      // A text of its own: messages of other tests may still be on their way to the queue.
      link.loseResponseTo(`lost ${path} 7`);
      const lost = await request(`lost ${path}`);
      const again = await request(`lost ${path}`);

      expectProblem(lost, 503, 'unavailable');
      expect(again.status).toBe(202);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(await api.stored(account)).toEqual({ messages: 1 + count, keys: 1 });
    },
  );
});
