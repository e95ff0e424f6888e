import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { freePort, listen, until } from '../../../../test/support/processes.js';
import { isPublic } from './addresses.js';
import { UndiciWebhookClient } from './undici-webhook-client.js';

/** Names of attackers, and what their name servers answer. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'loopback.test': ['127.0.0.1'],
  'loopback6.test': ['::1'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  '6to4.test': ['2002:7f00:1::'],
  'unspecified.test': ['0.0.0.0'],
  'first-public.test': ['93.184.215.14', '127.0.0.1'],
  'last-public.test': ['127.0.0.1', '93.184.215.14'],
  'mixed-families.test': ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', '127.0.0.1'],
  'nothing.test': ['not an address'],
  localhost: ['127.0.0.1'],
  'app.localhost': ['127.0.0.1'],
};

/** Everything that must not be reached; `:1` stands for the port of a server that is there. */
const HOSTILE = [
  // IPv4 literals, in every form that a URL may have.
  ...['http://127.0.0.1:1/', 'http://127.0.0.1.:1/', 'http://127.1:1/', 'http://127.0.1:1/', 'http://2130706433:1/'],
  ...['http://017700000001:1/', 'http://0177.0.0.1:1/', 'http://0x7f.0.0.1:1/', 'http://0x7f000001:1/'],
  ...['http://0x7f.1:1/', 'http://0177.0x0.0.1:1/', 'http://127.255.255.254:1/', 'http://１２７.0.0.1:1/'],
  ...['http://①②⑦.0.0.1:1/', 'http://127%2e0.0.1:1/', 'http://0.0.0.0:1/', 'http://0:1/', 'http://0.1.2.3:1/'],
  ...['http://10.0.0.1:1/', 'http://172.16.0.1:1/', 'http://172.31.255.255:1/', 'http://192.168.0.1:1/'],
  ...[
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
    'http://100.100.100.200/',
  ],
  ...['http://168.63.129.16/', 'http://192.0.0.192/', 'http://100.64.0.1:1/', 'http://198.18.0.1:1/'],
  ...['http://192.0.2.1:1/', 'http://224.0.0.1:1/', 'http://240.0.0.1:1/', 'http://255.255.255.255:1/'],
  // IPv6 literals, and IPv4 in them.
  ...['http://[::1]:1/', 'http://[0:0:0:0:0:0:0:1]:1/', 'http://[::]:1/', 'http://[::ffff:127.0.0.1]:1/'],
  ...['http://[::ffff:7f00:1]:1/', 'http://[::ffff:169.254.169.254]/', 'http://[::127.0.0.1]:1/'],
  ...['http://[::ffff:0:127.0.0.1]:1/', 'http://[64:ff9b::127.0.0.1]:1/', 'http://[64:ff9b::7f00:1]:1/'],
  ...['http://[64:ff9b:1::7f00:1]:1/', 'http://[2002:7f00:1::]:1/', 'http://[2002:a9fe:a9fe::]/'],
  ...['http://[2001:0:7f00:1::]:1/', 'http://[fd00:ec2::254]/', 'http://[fc00::1]:1/', 'http://[fe80::1]:1/'],
  ...['http://[fec0::1]:1/', 'http://[ff02::1]:1/', 'http://[2001:db8::1]:1/', 'http://[5f00::1]:1/'],
  // Names.
  ...Object.keys(NAMES).map((name) => `http://${name}:1/`),
  'https://loopback.test:1/',
];

const resolve = (name: string) => {
  const addresses = NAMES[name];
  return addresses === undefined ? Promise.reject(new Error(name)) : Promise.resolve(addresses);
};

const aRequest = (url: string) => ({ url, headers: { 'content-type': 'text/plain' }, body: 'hello' });

describe('The client of webhooks', () => {
  const servers: (() => void)[] = [];
  afterEach(() => {
    for (const close of servers.splice(0)) close();
  });

  const client = (options: Partial<ConstructorParameters<typeof UndiciWebhookClient>[0]> = {}, names = resolve) => {
    const created = new UndiciWebhookClient({ timeoutMs: 5_000, allowPrivate: false, ...options }, names);
    servers.push(() => void created.onApplicationShutdown());
    return created;
  };
  const development = (timeoutMs = 5_000) => client({ allowPrivate: true, timeoutMs });

  /** A server that answers each connection with these bytes, then whatever `more` does. */
  const rawServer = async (answer: string, more: (socket: Socket) => void = () => undefined) => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write(answer);
        more(socket);
      });
    });
    servers.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return { url: `${await listen(server)}/`, sockets };
  };

  describe('never reaches', () => {
    let connections = 0;
    let port = 0;
    const tripwires: Server[] = [];

    beforeAll(async () => {
      const open = async (host: string, at: number) => {
        const server = createServer((_request, response) => response.end());
        server.on('connection', () => connections++);
        server.listen(at, host);
        await once(server, 'listening');
        tripwires.push(server);
        return (server.address() as AddressInfo).port;
      };
      port = await open('0.0.0.0', 0);
      await open('::1', port).catch(() => undefined);
    });
    afterAll(() => {
      for (const server of tripwires) server.close();
    });

    it('has a list of at least 60', () => {
      expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(60);
    });

    it.each(HOSTILE)('%s', async (hostile) => {
      const url = hostile.replace(':1/', `:${port}/`);
      connections = 0;
      await expect(client().post(aRequest(url))).rejects.toThrow('The host is not public');
      expect(connections).toBe(0);
    });

    it('what answers where the list says', async () => {
      connections = 0;
      await development().post(aRequest(`http://127.0.0.1:${port}/`));
      expect(connections).toBe(1);
    });

    it.each([
      ...['http://127.0.0.1/', 'http://0x7f.1/', 'http://[::ffff:127.0.0.1]/', 'http://[64:ff9b::1]/'],
      ...['http://localhost/', 'http://localhost./', 'http://app.localhost/', 'https://169.254.169.254/'],
    ])('%s, which may not even be stored', (url) => {
      expect(client().isForbidden(url)).toBe(true);
      expect(development().isForbidden(url)).toBe(false);
    });

    it.each(['http://example.com/', 'https://93.184.215.14/', 'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/'])(
      'anything else: %s may be stored',
      (url) => {
        expect(client().isForbidden(url)).toBe(false);
      },
    );

    it('a name that was public before: it looks it up for each connection', async () => {
      const answers = [['93.184.215.14'], ['127.0.0.1']];
      const asked: string[] = [];
      const rebinding = client({ timeoutMs: 1_000 }, (name) => {
        asked.push(name);
        return Promise.resolve(answers.shift() ?? []);
      });
      connections = 0;
      // The first address is public, and answers or not, but never as the server of this test.
      await rebinding.post(aRequest(`http://rebinding.test:${port}/`)).catch(() => undefined);
      const second = rebinding.post(aRequest(`http://rebinding.test:${port}/`));
      await expect(second).rejects.toThrow('The host is not public');
      expect([asked, connections]).toEqual([['rebinding.test', 'rebinding.test'], 0]);
    });

    it('the target of a redirect', async () => {
      const { url } = await rawServer(
        `HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:${port}/\r\nContent-Length: 0\r\n\r\n`,
      );
      connections = 0;
      expect(await development().post(aRequest(url))).toMatchObject({ status: 307 });
      expect(connections).toBe(0);
    });

    it('a proxy of the environment', async () => {
      const { env } = process;
      process.env = { ...env, NODE_USE_ENV_PROXY: '1', http_proxy: `http://127.0.0.1:${port}`, NO_PROXY: '' };
      const { url } = await rawServer('HTTP/1.1 204 No Content\r\n\r\n');
      connections = 0;
      const answer = await development()
        .post(aRequest(url))
        .finally(() => (process.env = env));
      expect([answer.status, connections]).toEqual([204, 0]);
    });
  });

  it('knows public addresses', () => {
    const known = ['8.8.8.8', '93.184.215.14', '2606:4700::1111', '2001:4860:4860::8888'];
    expect(known.filter((address) => !isPublic(address))).toEqual([]);
    expect(['', '1.2.3', '1.2.3.4.5', 'x', '127.0.0.1', '::ffff:8.8.8.8'].filter(isPublic)).toEqual([]);
  });

  describe('returns', () => {
    it('status, Retry-After and the first KiB of an answer', async () => {
      const body = `💌${'x'.repeat(3_000)}`;
      const { url } = await rawServer(
        `HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      const answer = await development().post(aRequest(url));
      expect(answer).toEqual({ status: 503, retryAfterMs: 7_000, body: body.slice(0, 2 + 1_020) });
    });

    it('the first of several Retry-After', async () => {
      const { url } = await rawServer(
        'HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nretry-after: 9\r\nContent-Length: 0\r\n\r\n',
      );
      expect((await development().post(aRequest(url))).retryAfterMs).toBe(7_000);
    });

    it('what PostgreSQL can store', async () => {
      const { url } = await rawServer('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na\u0000b');
      expect((await development().post(aRequest(url))).body).toBe('a\ufffdb');
    });

    it('the status when the answer never ends, and reads at most 64 KiB of it', async () => {
      let sent = 0;
      const { url, sockets } = await rawServer('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', (socket) => {
        const flood = () => {
          while (!socket.destroyed && socket.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`)) sent += 0x4000;
          if (!socket.destroyed) socket.once('drain', flood);
        };
        flood();
      });
      expect(await development().post(aRequest(url))).toMatchObject({ status: 200 });
      const [socket] = sockets;
      await until(() => socket?.destroyed === true);
      // What the system buffers comes on top.
      expect(sent).toBeLessThan(16 * 1_048_576);
    });

    it.each([
      ['is shorter than its Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello', true],
      ['is longer than its Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello world', false],
      ['drips', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello', false],
    ])('the status when the answer %s', async (_what, answer, ends) => {
      const { url } = await rawServer(answer, (socket) => {
        if (ends) socket.end();
      });
      const { status, body } = await development().post(aRequest(url));
      expect([status, body.slice(0, 2)]).toEqual([200, 'he']);
    });
  });

  describe('reports', () => {
    it('a receiver that accepts the connection and is silent', async () => {
      const { url } = await rawServer('');
      await expect(development(200).post(aRequest(url))).rejects.toThrow('did not answer within 200 ms');
    });

    it('headers that drip', async () => {
      const { url } = await rawServer('HTTP/1.1 200 OK\r\n', (socket) => {
        const timer = setInterval(() => socket.write('X-Drip: 1\r\n'), 20);
        socket.on('close', () => {
          clearInterval(timer);
        });
      });
      await expect(development(200).post(aRequest(url))).rejects.toThrow('did not answer within 200 ms');
    });

    it.each([
      [
        'endless headers',
        `HTTP/1.1 200 OK\r\n${'X-Flood: x\r\n'.repeat(4_000)}`,
        'headers of the answer are too large',
      ],
      ...[
        ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n\r\n'],
        ['a status of 000', 'HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n'],
        ['a status of two digits', 'HTTP/1.1 99 x\r\nContent-Length: 0\r\n\r\n'],
        ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
        ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
        ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
        ['a frame of HTTP/2', '\0\0\0\u0004\0\0\0\0\0'],
      ].map(([what = '', answer = '']) => [what, answer, 'the answer is not valid HTTP/1.1']),
    ])('%s', async (_what, answer, reason) => {
      const { url } = await rawServer(answer);
      await expect(development().post(aRequest(url))).rejects.toThrow(reason);
    });

    it('a refused connection', async () => {
      const origin = `http://127.0.0.1:${await freePort()}`;
      await expect(development().post(aRequest(`${origin}/`))).rejects.toThrow('refused the connection');
    });

    it('a closed connection', async () => {
      const { url } = await rawServer('', (socket) => socket.destroy());
      await expect(development().post(aRequest(url))).rejects.toThrow('closed the connection');
    });
  });
});
