import type { HttpAdapterHost } from '@nestjs/core';
import { fastify } from 'fastify';
import { unavailable } from '../../../../test/support/messages.js';
import type { AuthenticateCaller, Caller } from '../../application/authenticate-caller.js';
import { StaleKeyCheck } from './stale-key-check.js';

const CALLER: Caller = { accountId: 'acct_1', keyId: 'key_1', scopes: [], epoch: 1 };

/**
 * What is answered to a request that was let pass some time ago.
 * @param refresh what is known of its key by now
 */
async function answer(passedMsAgo: number, refresh: () => Promise<Caller | null>, status = 202) {
  const server = fastify();
  const refreshed = jest.fn(refresh);
  const host = { httpAdapter: { getInstance: () => server } } as unknown as HttpAdapterHost;
  new StaleKeyCheck(host, { refresh: refreshed } as unknown as AuthenticateCaller).onModuleInit();
  server.post('/messages', (request, reply) => {
    request.presentedKey = 'slc_key';
    request.passedAt = performance.now() - passedMsAgo;
    return reply.code(status).header('location', '/messages/1').send({ id: '1' });
  });
  server.post('/accounts', (_request, reply) => reply.code(status).send({ id: '1' }));
  const told = await server.inject({ method: 'POST', path: '/messages' });
  return { ...told, body: told.json<Record<string, unknown>>(), asked: refreshed.mock.calls.length, server };
}

const entitled = () => Promise.resolve(CALLER);
const revoked = () => Promise.resolve(null);

describe('StaleKeyCheck', () => {
  let now = 0;

  beforeEach(() => {
    now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('lets a success pass that is in time, and asks nobody', async () => {
    const { statusCode, asked } = await answer(900, revoked);
    expect([statusCode, asked]).toEqual([202, 0]);
  });

  it('lets a late success pass when the key still holds', async () => {
    const { statusCode, headers, body, asked } = await answer(901, entitled);
    expect([statusCode, asked]).toEqual([202, 1]);
    expect(headers.location).toBe('/messages/1');
    expect(body).toEqual({ id: '1' });
  });

  it.each([
    ['the key does not hold', revoked],
    ['nobody can tell', () => Promise.reject(unavailable())],
    [
      'it takes too long to tell',
      () => {
        now += 901;
        return entitled();
      },
    ],
  ])('turns a late success into 503 unavailable when %s', async (_name, refresh) => {
    const { statusCode, headers, body } = await answer(901, refresh);
    expect(statusCode).toBe(503);
    expect(body).toMatchObject({ status: 503, code: 'unavailable', type: '/errors/unavailable' });
    expect(headers).toMatchObject({ 'content-type': 'application/problem+json; charset=utf-8', 'retry-after': '1' });
    expect(headers['content-length']).toBe(String(Buffer.byteLength(JSON.stringify(body))));
    expect(headers).not.toHaveProperty('location');
  });

  it('leaves errors alone, however late', async () => {
    const { statusCode, asked } = await answer(5_000, revoked, 404);
    expect([statusCode, asked]).toEqual([404, 0]);
  });

  it('leaves alone what no key was needed for', async () => {
    const { server } = await answer(0, revoked);
    expect((await server.inject({ method: 'POST', path: '/accounts' })).statusCode).toBe(202);
  });
});
