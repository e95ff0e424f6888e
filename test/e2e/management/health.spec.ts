import { Agent } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { ownApi, TestApi } from '../../support/api.js';
import { Fleet } from '../../support/fleet.js';
import { callUndocumented, postLines, RawConnection } from '../../support/http.js';
import { freePort, SHIFTED_CLOCK, until } from '../../support/processes.js';
import { Link } from '../../support/link.js';

const READY = { status: 'ready', checks: { process: 'serving', database: 'up', clock: 'right' } };

async function ready(url: string) {
  const response = await callUndocumented(url, { path: '/health/ready' });
  return { code: response.status, ...(response.body as { status: string; checks: object }) };
}

describe('The management port', () => {
  const link = new Link();
  const api = ownApi({}, link);

  it('reports that the process lives and is ready', async () => {
    const live = await callUndocumented(api.managementUrl, { path: '/health/live' });
    expect(live.status).toBe(200);
    expect(live.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(live.body).toEqual({ status: 'live' });
    await until(async () => (await ready(api.managementUrl)).code === 200);
    expect(await ready(api.managementUrl)).toEqual({ code: 200, ...READY });
  });

  it('responds with JSON to unknown paths, and its own are unknown to the API port', async () => {
    for (const path of ['/health', '/messages', '/health/ready/x', '/%']) {
      const response = await callUndocumented(api.managementUrl, { path });
      expect({ path, status: response.status }).toEqual({ path, status: path === '/%' ? 400 : 404 });
      expect(response.body).toHaveProperty('error');
    }
    for (const path of ['live', 'ready']) expect((await api.ask(null, `GET /health/${path}`)).status).toBe(404);
  });

  it('refuses a body that it can not read', async () => {
    const request = {
      method: 'POST',
      path: '/health/live',
      headers: { 'content-type': 'application/json' },
      body: '{',
    };
    const { status, body } = await callUndocumented(api.managementUrl, request);
    expect([status, body]).toEqual([400, { error: expect.any(String) as string }]);
  });

  it('is not ready while the database hangs or is unavailable, and reports it soon; it stays alive', async () => {
    const down = { code: 503, status: 'not ready', checks: { process: 'serving', database: 'down', clock: 'right' } };
    link.stall();
    await until(async () => (await ready(api.managementUrl)).code === 503);
    const start = performance.now();
    expect(await ready(api.managementUrl)).toEqual(down);
    expect(performance.now() - start).toBeLessThan(30_000);
    await link.cut();
    expect(await ready(api.managementUrl)).toEqual(down);
    expect((await callUndocumented(api.managementUrl, { path: '/health/live' })).status).toBe(200);
    link.resume();
    await link.restore();
    await until(async () => (await ready(api.managementUrl)).code === 200);
  });

  it('is not ready from the moment it is stopped, and responds until the end', async () => {
    const other = await new TestApi().start();
    const { id, key } = await other.signUp();
    const held = await RawConnection.open(other.url);
    const body = '{"message":"late"}';
    held.write(postLines(key, `Content-Length: ${body.length}`));
    expect(await ready(other.managementUrl)).toEqual({ code: 200, ...READY });
    // The request keeps the process from ending before the checks.
    const counted = () => other.sql('SELECT FROM sluice.rate_limits WHERE account_id = $1', [id]);
    await until(async () => (await counted()).length > 0);
    const stopped = other.stop();
    await until(async () => (await ready(other.managementUrl)).code === 503);
    const draining = { process: 'draining', database: 'up', clock: 'right' };
    expect(await ready(other.managementUrl)).toEqual({ code: 503, status: 'not ready', checks: draining });
    expect((await callUndocumented(other.managementUrl, { path: '/health/live' })).status).toBe(200);
    held.write(body);
    expect((await held.response()).status).toBe(202);
    await stopped;
    const later = callUndocumented(other.managementUrl, { path: '/health/live', agent: new Agent() });
    await expect(later).rejects.toThrow(/ECONNREFUSED/);
    held.close();
  });

  it('of a worker is ready, except while another process migrates the schema, or its own clock is wrong', async () => {
    const fleet = await Fleet.start();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    try {
      // The lock of a process that migrates: "sluice" in ASCII.
      const release = await fleet.client.hold('SELECT pg_advisory_xact_lock($1)', [0x736c75696365]);
      const settings = { ...SHIFTED_CLOCK, MANAGEMENT_PORT: String(port) };
      const worker = fleet.startWorker(settings, 'dist/apps/worker/main.js');
      await worker.printed('waiting for another process that migrates the schema');
      expect((await callUndocumented(url, { path: '/health/live' })).status).toBe(200);
      const migrating = { process: 'migrating', database: 'up', clock: 'right' };
      expect(await ready(url)).toEqual({ code: 503, status: 'not ready', checks: migrating });
      await release();
      await worker.ready();
      expect(await ready(url)).toEqual({ code: 200, ...READY });
      expect(worker.output.match(/waiting for another process/g)).toHaveLength(1);

      await worker.setClock(3_600_000);
      const paused = { process: 'paused', database: 'up', clock: 'wrong' };
      await until(async () => isDeepStrictEqual((await ready(url)).checks, paused));
      expect(await ready(url)).toEqual({ code: 503, status: 'not ready', checks: paused });
      await worker.setClock(0);
      await until(async () => (await ready(url)).code === 200);
    } finally {
      await fleet.stop();
    }
  });

  it('keeps a process from starting when it is in use, with an error that names the setting', async () => {
    const start = api.join({ MANAGEMENT_PORT: new URL(api.managementUrl).port });
    await expect(start).rejects.toThrow(/^UsageError: Port \d+ is in use: .* MANAGEMENT_PORT /);
  });
});
