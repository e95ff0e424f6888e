import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, expectProblem, ownApi } from '../../support/api.js';
import { lines, RawConnection } from '../../support/http.js';

describe('a request that does not arrive within REQUEST_TIMEOUT_MS gets 408 request_timeout', () => {
  const api = ownApi({ REQUEST_TIMEOUT_MS: '500' });
  const account = accountOf(api);

  const head = () =>
    lines(
      'POST /messages HTTP/1.1',
      'Host: sluice',
      `Authorization: Bearer ${account.key}`,
      'Content-Type: application/json',
      'X-Request-Id: mine',
      'Content-Length: 15',
    );

  it('when headers are slow, and the connection closes', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write('POST /messages HTTP/1.1\r\nHost: sluice\r\nX-Slow: ');
    connection.drip('a', 100);

    expectProblem(await connection.answer(), 408, 'request_timeout');
    await connection.refused();
    connection.close();
  });

  it('when nothing ever comes, and the connection closes', async () => {
    const connection = await RawConnection.open(api.url);

    expectProblem(await connection.answer(), 408, 'request_timeout');
    await connection.refused();
    connection.close();
  });

  it('when the body is slow, and the connection closes', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(head());
    connection.drip(' ', 100);

    expect(expectProblem(await connection.answer(), 408, 'request_timeout').requestId).toBe('mine');
    await connection.refused();
    connection.close();
  });

  it('and what comes of it later is not stored', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(`${head()}{"message`);
    expectProblem(await connection.answer(), 408, 'request_timeout');
    connection.write('":"x"}');
    await connection.refused();

    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    connection.close();
  });

  it('but not one that was answered before its body came: its connection just closes', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(head().replace(account.key, 'wrong'));

    expectProblem(await connection.answer(), 401, 'unauthorized');
    expect(await connection.end()).toBe('');
    await connection.refused();
    connection.close();
  });

  it('nor one whose answer takes longer', async () => {
    const statement = `
      INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at)
      VALUES ($1, 'held', sha256(''), 'msg_under_way', now())`;
    const asked = await api.during(statement, [account.id], async () => {
      const answer = api.send(account, { headers: { 'idempotency-key': 'held' } });
      await sleep(1_500);
      return { answer };
    });
    expect((await asked.answer).status).toBe(202);
  });
});
