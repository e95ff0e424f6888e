import type { HttpAdapterHost } from '@nestjs/core';
import { fastify } from 'fastify';
import { unavailable } from '../../../../test/support/messages.js';
import type { Logger } from '#platform/observability/logging.js';
import type { Caller } from '#kernel/caller.js';
import type { AuthenticateCaller } from '../../application/authenticate-caller.js';
import { loopTime } from '#platform/process/loop-time.js';
import { StaleKeyCheck } from './stale-key-check.js';

jest.mock('#platform/process/loop-time.js', () => ({ loopTime: jest.fn() }));

const CALLER: Caller = {
  accountId: 'acct_1',
  keyId: 'key_1',
  scopes: [],
  epoch: 1,
  suspended: false,
  delivery: 'handler',
};

/**
 * The response to a request that was admitted some time ago.
 * @param refresh verifies its key
 */
async function respond(passedMsAgo: number, refresh: () => Promise<Caller | null>, status = 202) {
  const server = fastify();
  const refreshed = jest.fn(refresh);
  const host = { httpAdapter: { getInstance: () => server } } as unknown as HttpAdapterHost;
  const warn = jest.fn();
  const logger = { warn } as unknown as Logger;
  new StaleKeyCheck(host, { refresh: refreshed } as unknown as AuthenticateCaller, logger).onModuleInit();
  server.post('/messages', (request, reply) => {
    request.presentedKey = 'slc_key';
    request.verifiedAt = loopTime() - passedMsAgo;
    return reply
      .code(status)
      .headers({ location: '/messages/1', 'cache-control': 'public', 'content-encoding': 'gzip' })
      .send({ id: '1' });
  });
  server.post('/accounts', (_request, reply) => reply.code(status).send({ id: '1' }));
  const response = await server.inject({ method: 'POST', path: '/messages' });
  return {
    ...response,
    body: response.json<Record<string, unknown>>(),
    checks: refreshed.mock.calls.length,
    warn,
    server,
  };
}

const valid = () => Promise.resolve(CALLER);
const revoked = () => Promise.resolve(null);
const suspended = () => Promise.resolve({ ...CALLER, suspended: true });

describe('StaleKeyCheck', () => {
  let now = 0;

  beforeEach(() => {
    now = 1_000;
    jest.mocked(loopTime).mockImplementation(() => now);
  });

  it('passes a success that is in time, without a check', async () => {
    const { statusCode, checks } = await respond(800, revoked);
    expect([statusCode, checks]).toEqual([202, 0]);
  });

  it('passes a late success when the key is still valid', async () => {
    const { statusCode, headers, body, checks } = await respond(900, valid);
    expect([statusCode, checks]).toEqual([202, 1]);
    expect(headers.location).toBe('/messages/1');
    expect(body).toEqual({ id: '1' });
  });

  it.each([
    ['the key is revoked', revoked],
    ['the account is suspended', suspended],
    ['the key cannot be verified', () => Promise.reject(unavailable())],
    [
      'verifying takes too long',
      () => {
        now += 900;
        return valid();
      },
    ],
  ])('turns a late success into 503 unavailable when %s, and logs the reason', async (_name, refresh) => {
    const { statusCode, headers, body, warn } = await respond(900, refresh);
    expect(statusCode).toBe(503);
    expect(body).toMatchObject({ status: 503, code: 'unavailable', type: '/errors/unavailable' });
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
      'retry-after': '1',
    });
    expect(headers['content-length']).toBe(String(Buffer.byteLength(JSON.stringify(body))));
    for (const name of ['location', 'content-encoding']) expect(headers).not.toHaveProperty(name);
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ reason: body.detail }), 'unavailable');
  });

  it('does not check errors', async () => {
    const { statusCode, checks } = await respond(5_000, revoked, 404);
    expect([statusCode, checks]).toEqual([404, 0]);
  });

  it('does not check requests without a key', async () => {
    const { server } = await respond(0, revoked);
    expect((await server.inject({ method: 'POST', path: '/accounts' })).statusCode).toBe(202);
  });
});
