import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownApi } from '../support/api.js';
import { lines, postLines } from '../support/http.js';

const MAX = 60;

describe('A good caller with new connections', () => {
  const api = ownApi({ MAX_CONNECTIONS: String(MAX), ANONYMOUS_PER_MINUTE: '100000' });
  let hostile: Socket[] = [];
  afterEach(() => {
    for (const socket of hostile) socket.destroy();
    hostile = [];
  });

  /** On a connection of its own. */
  const send = ({ key }: { key: string }) =>
    api.call({
      ...{ method: 'POST', path: '/messages', body: '{"message":"hello"}', agent: new Agent({ keepAlive: false }) },
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
  const request = lines('GET /unknown HTTP/1.1', 'Host: sluice');
  it.each([
    ['send nothing', () => ''],
    ['send a line end', () => '\r\n'],
    ['send half a head', () => 'POST /messages HTTP/1.1\r\nHost: sluice\r\nX-A: '],
    [
      'send a head whose body never comes',
      () => lines('POST /accounts HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 9'),
    ],
    ['stay after a response', () => request],
    ['pipeline', () => request.repeat(10)],
    ['send a wrong key', () => postLines('wrong')],
    [
      'stay with a valid key',
      (key: string) => lines('GET /account HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`),
    ],
    ['hold back bodies with a valid key', (key: string) => postLines(key, 'Content-Length: 9')],
  ])('is answered beside connections that %s', async (_name, textOf) => {
    const [good, bad] = [await api.signUp(), await api.signUp()];
    const text = textOf(bad.key);
    const { hostname, port } = new URL(api.url);
    const renew = () => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.resume().write(text);
      hostile.push(socket);
    };
    for (let count = 0; count < 2 * MAX; count++) renew();
    await sleep(1_100);
    const statuses: unknown[] = [];
    for (let count = 0; count < 20; count++) {
      for (let more = 0; more < 3; more++) renew();
      statuses.push(
        await send(good).then(
          ({ status }) => status,
          (error: unknown) => String(error),
        ),
      );
    }
    expect(statuses).toEqual(Array(20).fill(202));
  });
});
