import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, expectProblem, ownApi } from '../../support/api.js';
import { lastExchange, postLines, RawConnection } from '../../support/http.js';

describe('a request that does not arrive within REQUEST_TIMEOUT_MS gets 408 request_timeout, and the connection closes', () => {
  const api = ownApi({ REQUEST_TIMEOUT_MS: '500' });
  const account = accountOf(api);

  const head = (key = account.key) => postLines(key, 'X-Request-Id: mine', 'Content-Length: 15');

  it.each([
    ['headers are slow', 'POST /messages HTTP/1.1\r\nHost: sluice\r\nX-Slow: ', 'a'],
    ['nothing is sent', '', undefined],
  ])('when %s', async (_name, text, drip) => {
    expectProblem(await lastExchange(api.url, text, drip), 408, 'request_timeout');
  });

  it('when the body is slow', async () => {
    const response = await lastExchange(api.url, head(), ' ');
    expect(expectProblem(response, 408, 'request_timeout').requestId).toBe('mine');
  });

  it('and what arrives later is not stored', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(`${head()}{"message`);
    expectProblem(await connection.response(), 408, 'request_timeout');
    connection.write('":"x"}');
    await connection.refused();

    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it('but not one that got its response before its body arrived: its connection just closes', async () => {
    expectProblem(await lastExchange(api.url, head('wrong')), 401, 'unauthorized');
  });

  it('nor one whose response takes longer', async () => {
    const statement = `
      INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at)
      VALUES ($1, 'held', sha256(''), 'msg_under_way', now())`;
    const sent = await api.during(statement, [account.id], async () => {
      const response = api.send(account, { headers: { 'idempotency-key': 'held' } });
      await sleep(1_500);
      return { response };
    });
    expect((await sent.response).status).toBe(202);
  });
});
