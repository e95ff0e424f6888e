import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, ownApi } from '../../support/api.js';
import { postLines, RawConnection } from '../../support/http.js';

const api = ownApi({ KEEP_ALIVE_TIMEOUT_MS: '1000' });
const account = accountOf(api);

it('An idle connection is ended after KEEP_ALIVE_TIMEOUT_MS, without a reset for a request that comes too late', async () => {
  const connection = await RawConnection.open(api.url);
  const request = `${postLines(account.key, 'Content-Length: 15')}{"message":"x"}`;
  connection.write(request);
  const { status, headers } = await connection.response();
  expect([status, headers['keep-alive']]).toEqual([202, 'timeout=1']);
  expect(await connection.end()).toBe('');
  const failed = jest.fn();
  connection.socket.on('error', failed);
  // After a reset, the second one would fail.
  for (let count = 0; count < 2; count++) {
    connection.write(request);
    await sleep(150);
  }

  expect(failed).not.toHaveBeenCalled();
  expect(await api.stored(account)).toMatchObject({ messages: 1 });
  connection.close();
});
