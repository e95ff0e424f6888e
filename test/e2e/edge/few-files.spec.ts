import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Fleet } from '../../support/fleet.js';
import { call } from '../../support/http.js';
import { freePort } from '../../support/processes.js';

describe('An API that may open fewer files than it may have connections', () => {
  let fleet: Fleet;
  const idle: Socket[] = [];
  beforeAll(async () => {
    fleet = await Fleet.start();
  });
  afterAll(async () => {
    for (const socket of idle) socket.destroy();
    await fleet.stop();
  });

  it('says so, and serves although clients open more connections than it has files', async () => {
    const port = await freePort();
    const api = fleet.start('test/support/few-files.sh', { PORT: String(port) }, 'bash');
    await api.ready();
    expect(api.output).toContain('fewer connections than MAX_CONNECTIONS: the limit of open files is too low');
    for (let count = 0; count < 200; count++) {
      idle.push(connect(port, '127.0.0.1').on('error', () => undefined));
    }
    const headers = { authorization: `Bearer ${fleet.account.key}`, 'content-type': 'application/json' };
    for (let count = 0; count < 5; count++) {
      const request = { method: 'POST', path: '/messages', headers, body: '{"message":"hello"}' };
      expect(await call(api.url, { ...request, agent: new Agent() })).toMatchObject({ status: 202 });
    }
  });
});
