import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { connect, createServer as createTlsServer, type TlsOptions } from 'node:tls';
import {
  AUTHORITY,
  EXPIRED,
  INTERMEDIATE,
  KEY,
  LEAF,
  NOT_YET_VALID,
  SELF_SIGNED,
} from '../../../../test/support/receiver-certificates.js';
import { startNameServer, type NameAnswer } from '../../../../test/support/name-server.js';
import { freePort, listen } from '../../../../test/support/processes.js';
import { resolveByDns } from './addresses.js';
import { reasonOf } from './reasons.js';
import { UndiciWebhookClient } from './undici-webhook-client.js';

const INVALID = 'The receiver has no valid TLS certificate: ';

describe('Why there was no answer:', () => {
  const ending: (() => void)[] = [];
  afterEach(() => {
    for (const end of ending.splice(0)) end();
  });

  const start = async (server: Server) => {
    const sockets: Socket[] = [];
    for (const event of ['connection', 'secureConnection']) {
      server.on(event, (socket: Socket) => {
        sockets.push(socket);
        socket.on('error', () => undefined);
      });
    }
    server.on('tlsClientError', () => undefined);
    ending.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return listen(server);
  };
  const post = async (url: string, resolve?: (name: string) => Promise<readonly string[]>) => {
    const client = new UndiciWebhookClient({ timeoutMs: 10_000, allowPrivate: true }, resolve);
    ending.push(() => {
      void client.onApplicationShutdown();
    });
    return client.post({ url, headers: {}, body: '' }).then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
  };

  it.each<[string, TlsOptions, string]>([
    ['a self-signed certificate', { cert: SELF_SIGNED }, `${INVALID}it is self-signed.`],
    [
      'an authority of its own',
      { cert: LEAF + INTERMEDIATE + AUTHORITY },
      `${INVALID}its certificate authority is not`,
    ],
    ['a chain that ends too early', { cert: LEAF + INTERMEDIATE }, `${INVALID}its issuer is unknown.`],
    ['no intermediate certificate', { cert: LEAF }, `${INVALID}the chain is incomplete.`],
    [
      'an old version of TLS',
      { cert: LEAF, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      'The receiver supports no version of TLS from 1.2 on.',
    ],
    [
      'no common cipher',
      { cert: LEAF, maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' },
      'The receiver refused the TLS handshake:',
    ],
  ])('%s', async (_what, options, reason) => {
    const origin = await start(createTlsServer({ key: KEY, ...options }));
    expect(await post(`${origin.replace('http:', 'https:')}/`)).toContain(reason);
  });

  it.each<[string, TlsOptions, string, string]>([
    [
      'an expired certificate',
      { cert: EXPIRED + INTERMEDIATE },
      'receiver.test',
      `${INVALID}it, or one that signs it, has expired`,
    ],
    [
      'one that is not valid yet',
      { cert: NOT_YET_VALID + INTERMEDIATE },
      'receiver.test',
      `${INVALID}it is not valid yet`,
    ],
    ['one for another name', { cert: LEAF + INTERMEDIATE }, 'other.test', `${INVALID}it is for another host name.`],
  ])('%s of an authority that is known', async (_what, options, servername, reason) => {
    const server = createTlsServer({ key: KEY, ...options });
    await start(server);
    const socket = connect({ port: (server.address() as AddressInfo).port, ca: AUTHORITY, servername });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(reasonOf(error)).toContain(reason);
  });

  it.each<[string, (socket: Socket) => void, string]>([
    [
      'no TLS at all',
      (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'The receiver does not speak TLS',
    ],
    ['a connection that is closed', (socket) => socket.end(), 'The receiver closed the connection.'],
    ['a connection that is reset', (socket) => socket.resetAndDestroy(), 'The receiver closed the connection.'],
  ])('in a handshake, %s', async (_what, answer, reason) => {
    const origin = await start(
      createTcpServer((socket) =>
        socket.once('data', () => {
          answer(socket);
        }),
      ),
    );
    expect(await post(`${origin.replace('http:', 'https:')}/`)).toContain(reason);
  });

  it.each<[string, (socket: Socket) => void, string]>([
    ['a connection that is closed', (socket) => socket.end(), 'The receiver closed the connection.'],
    ['a connection that is reset', (socket) => socket.resetAndDestroy(), 'The receiver closed the connection.'],
    [
      'another protocol',
      (socket) => void socket.write('220 smtp.example ESMTP\r\n'),
      'the answer is not valid HTTP/1.1',
    ],
    [
      'a 100 of HTTP/1.0, which has none',
      (socket) => void socket.write('HTTP/1.0 100 x\r\n\r\nHTTP/1.0 200 OK\r\n\r\n'),
      'the answer is not valid HTTP/1.1',
    ],
    [
      'another protocol, which was not asked for',
      (socket) => void socket.write('HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'the answer is not valid HTTP/1.1',
    ],
    [
      'TLS, which the URL does not say',
      (socket) => void socket.write('\x15\x03\x01\x00\x02\x02\x0a'),
      'the answer is not valid HTTP/1.1',
    ],
  ])('%s', async (_what, answer, reason) => {
    const origin = await start(
      createTcpServer((socket) =>
        socket.once('data', () => {
          answer(socket);
        }),
      ),
    );
    expect(await post(`${origin}/`)).toContain(reason);
  });

  it.each([
    ['ETIMEDOUT', 'ECONNREFUSED', 'The receiver refused the connection.'],
    ['ECONNREFUSED', 'ETIMEDOUT', 'The receiver refused the connection.'],
    ['ENETUNREACH', 'ECONNRESET', 'The receiver closed the connection.'],
    ['ETIMEDOUT', 'EHOSTUNREACH', 'The receiver did not accept the connection in time.'],
  ])('several addresses, with %s and %s', (one, other, reason) => {
    const errors = [one, other].map((code) => Object.assign(new Error('x'), { code }));
    expect(reasonOf(new AggregateError(errors))).toBe(reason);
  });

  it('a port where nobody listens', async () => {
    expect(await post(`http://127.0.0.1:${await freePort()}/`)).toBe('The receiver refused the connection.');
  });

  it.each<[string, NameAnswer, string]>([
    ['a name that does not exist', 'NXDOMAIN', 'The host name does not exist.'],
    ['a name without an address', [], 'The host name has no address.'],
    ['name servers that fail', 'SERVFAIL', 'The host name could not be looked up: its name servers failed.'],
    ['name servers that refuse', 'REFUSED', 'The host name could not be looked up: its name servers refused.'],
    ['name servers that are silent', null, 'The host name could not be looked up in time.'],
  ])('%s', async (_what, answer, reason) => {
    const server = await startNameServer(answer);
    ending.push(server.stop);
    const create = () => {
      const resolver = new Resolver({ timeout: 2_000, tries: 1 });
      resolver.setServers([server.address]);
      return resolver;
    };
    expect(await post('http://receiver.test/', resolveByDns('/none', create))).toContain(reason);
  });

  it('no name server at all, which is not a receiver that refuses', async () => {
    const port = await freePort();
    const create = () => {
      const resolver = new Resolver({ timeout: 100, tries: 1 });
      resolver.setServers([`127.0.0.1:${port}`]);
      return resolver;
    };
    expect(await post('http://receiver.test/', resolveByDns('/none', create))).toBe(
      'The host name could not be looked up.',
    );
  });
});
