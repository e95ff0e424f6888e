import { spawnSync } from 'node:child_process';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { freePort, listen } from '../support/processes.js';
import { InProcessCli } from '../support/in-process-cli.js';
import { describeUnless } from '../support/skipping.js';

const ACCOUNT = {
  id: 'acct_x',
  name: 'Test',
  plan: 'free',
  limits: { perMinute: 60, perDay: 1_000 },
  delivery: 'pull',
};
const MESSAGE = { id: 'msg_x', message: 'hello', createdAt: '2026-11-21T09:30:00.000Z', attempt: 1, leaseToken: '1.x' };

describe('The command line on a network', () => {
  const servers: TcpServer[] = [];
  let cli: InProcessCli;
  let port: number;
  /** The requests that the service has got. */
  let got: string[] = [];

  const start = (server: TcpServer) => {
    servers.push(server);
    return listen(server);
  };
  const run = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
    Object.assign(process.env, env);
    try {
      return await cli.run(args);
    } finally {
      for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name);
    }
  };

  beforeAll(async () => {
    const url = await start(
      createServer((incoming, response) => {
        got.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
        incoming.resume();
        const { url = '' } = incoming;
        if (url.endsWith('/ack')) response.end(JSON.stringify({ data: [{ id: MESSAGE.id, result: 'acknowledged' }] }));
        else response.end(JSON.stringify(url === '/messages/lease' ? { data: [MESSAGE] } : ACCOUNT));
      }),
    );
    port = Number(new URL(url).port);
    cli = new InProcessCli({ SLUICE_API_KEY: 'slc_x' });
  });
  beforeEach(() => {
    got = [];
  });
  afterAll(() => {
    cli.remove();
    for (const server of servers) server.close();
  });

  describe('by a proxy', () => {
    /** What the proxy was asked for. */
    let asked: string[] = [];
    let proxy: string;

    beforeAll(async () => {
      const server = createServer((incoming, response) => {
        asked.push(`${incoming.url ?? ''} ${incoming.headers['proxy-authorization'] ?? ''}`.trim());
        const { pathname } = new URL(incoming.url ?? '', 'http://nowhere');
        incoming.pipe(request({ port, path: pathname }, (answer) => answer.pipe(response)));
      });
      server.on('connect', (incoming, socket) => {
        asked.push(`CONNECT ${incoming.url ?? ''}`);
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      });
      proxy = await start(server);
    });
    beforeEach(() => {
      asked = [];
    });

    it.each([
      ['HTTP_PROXY', () => ({ HTTP_PROXY: proxy })],
      ['http_proxy', () => ({ http_proxy: proxy })],
      ['a variable in lower case, which comes first', () => ({ http_proxy: proxy, HTTP_PROXY: 'http://127.0.0.1:9' })],
      ['an address without http://', () => ({ HTTP_PROXY: new URL(proxy).host })],
      ['ALL_PROXY', () => ({ ALL_PROXY: proxy })],
      ['all_proxy', () => ({ all_proxy: proxy })],
      [
        'its own variable, which comes before that for all',
        () => ({ HTTP_PROXY: proxy, all_proxy: 'http://127.0.0.1:9' }),
      ],
      ['other hosts in NO_PROXY', () => ({ HTTP_PROXY: proxy, NO_PROXY: 'example.com,localhost' })],
      ['a part of its name in NO_PROXY', () => ({ HTTP_PROXY: proxy, NO_PROXY: 'uice.invalid' })],
      ['another port in NO_PROXY', () => ({ HTTP_PROXY: proxy, NO_PROXY: 'sluice.invalid:81' })],
      ['a network in NO_PROXY', () => ({ HTTP_PROXY: proxy, NO_PROXY: '0.0.0.0/0,::/0' })],
    ])('with %s', async (_, env) => {
      const ran = await run({ ...env(), SLUICE_BASE_URL: 'http://sluice.invalid' }, 'delivery', 'pull', '--json');
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      expect(asked).toEqual(['http://sluice.invalid/account']);
    });

    it('gives it the password of its URL, and shows that nowhere', async () => {
      const { host } = new URL(proxy);
      const env = { HTTP_PROXY: `http://user:secret@${host}`, SLUICE_BASE_URL: 'http://sluice.invalid' };
      expect(await run(env, 'delivery', 'pull', '--json')).toMatchObject({ code: 0, stderr: '' });
      expect(asked).toEqual([`http://sluice.invalid/account Basic ${Buffer.from('user:secret').toString('base64')}`]);
      const away = await run(
        { ...env, HTTP_PROXY: 'http://user:secret@127.0.0.1:1' },
        'keys',
        'revoke',
        'key_x',
        '--yes',
      );
      expect(away).toMatchObject({ code: 5, stderr: expect.stringMatching(/HTTP_PROXY is set(?!.*secret)/) as string });
    });

    it.each([
      ['its host in NO_PROXY', () => ({ HTTP_PROXY: proxy, NO_PROXY: '127.0.0.1' })],
      ['its host and port in no_proxy', () => ({ HTTP_PROXY: proxy, no_proxy: `example.com 127.0.0.1:${port}` })],
      ['its network in NO_PROXY', () => ({ HTTP_PROXY: proxy, NO_PROXY: '10.0.0.0/8, 127.0.0.0/8' })],
      ['its address as a network in NO_PROXY', () => ({ ALL_PROXY: proxy, no_proxy: '127.0.0.1/32' })],
      ['* in NO_PROXY', () => ({ HTTP_PROXY: proxy, NO_PROXY: '*' })],
      ['only HTTPS_PROXY', () => ({ HTTPS_PROXY: proxy })],
      ['an empty variable', () => ({ HTTP_PROXY: '' })],
    ])('not with %s', async (_, env) => {
      const ran = await run({ ...env(), SLUICE_BASE_URL: `http://127.0.0.1:${port}` }, 'delivery', 'pull', '--json');
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      expect([asked, got]).toEqual([[], ['PATCH /account']]);
    });

    it.each([
      ['sluice.invalid', 'sluice.invalid', true],
      ['sluice.invalid', 'SLUICE.invalid.', true],
      ['sluice.invalid', '.invalid', true],
      ['sluice.invalid', 'invalid', true],
      ['sluice.invalid', '*.invalid', true],
      ['sluice.invalid', 'sluice.invalid:80', true],
      ['sluice.invalid', 'other.invalid, ,', false],
      ['127.0.0.1', '127.0.0.0/8', true],
      ['127.0.0.1', '127.0.0.2/31', false],
      ['127.0.0.1', '127.0.0.1/33', false],
      ['127.0.0.1', '127.0.0.1/', false],
      ['127.0.0.1', '127.0.0.1/x', false],
      ['127.0.0.1', '::/0', false],
      ['[::1]', '::1', true],
      ['[::1]', '[::1]', true],
      ['[::1]', '[::1]:80', true],
      ['[::1]', '[::1]:81', false],
      ['[::1]', '0:0::1', true],
      ['[::1]', '::/8', true],
      ['[::1]', 'fe80::/10', false],
    ])('reaches %s with NO_PROXY=%s directly: %s', async (host, list, isDirect) => {
      const refused = 'http://127.0.0.1:1';
      const requested: string[] = [];
      const direct = jest.spyOn(globalThis, 'fetch').mockImplementation((url) => {
        requested.push(new URL(url).host);
        return Promise.resolve(new Response(JSON.stringify(ACCOUNT)));
      });
      await run({ HTTP_PROXY: refused, NO_PROXY: list, SLUICE_BASE_URL: `http://${host}` }, 'delivery', 'pull');
      direct.mockRestore();
      expect(requested).toEqual(isDirect ? [host] : []);
    });

    it.each([
      ['HTTP_PROXY', 'http'],
      ['http_proxy', 'http'],
      ['HTTPS_PROXY', 'https'],
      ['https_proxy', 'https'],
      ['ALL_PROXY', 'http'],
      ['all_proxy', 'https'],
    ])('names %s when its proxy is away', async (variable, scheme) => {
      const env = { [variable]: 'http://127.0.0.1:1', SLUICE_BASE_URL: `${scheme}://sluice.invalid` };
      const { code, stderr } = await run(env, 'keys', 'revoke', 'key_x', '--yes');
      expect(code).toBe(5);
      expect(stderr).toContain(` ${variable} is set: is the proxy right? `);
    });

    it.each([
      ['of another scheme', () => ({ HTTPS_PROXY: proxy })],
      ['that it does not use', () => ({ ALL_PROXY: proxy, NO_PROXY: '127.0.0.1' })],
    ])('does not name a proxy %s', async (_, env) => {
      const SLUICE_BASE_URL = `http://127.0.0.1:${await freePort()}`;
      const { stderr } = await run({ ...env(), SLUICE_BASE_URL }, 'keys', 'revoke', 'key_x', '--yes');
      expect(stderr).toContain('Nothing accepts connections at this address.');
      expect(stderr).not.toContain('is set');
    });

    it('tunnels HTTPS, and forwards to this machine without it', async () => {
      const env = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy };
      const ran = await run({ ...env, SLUICE_BASE_URL: 'https://sluice.invalid' }, 'keys', 'revoke', 'key_x', '--yes');
      expect(ran.code).toBe(5);
      expect(asked[0]).toBe('CONNECT sluice.invalid:443');
      asked = [];
      const base = { ...env, SLUICE_BASE_URL: 'http://sluice.invalid' };
      await run(base, 'listen', '--forward-to', `127.0.0.1:${port}/hook`, '--limit', '1');
      expect(got).toContain('POST /hook');
      expect(asked.filter((url) => url.includes('/hook'))).toEqual([]);
    });
  });

  it('waits as long for a local program as --timeout says, whatever fetch does by default', async () => {
    const before = getGlobalDispatcher();
    // In place of the 300 seconds of fetch.
    setGlobalDispatcher(new Agent({ headersTimeout: 200 }));
    try {
      const slow = await start(
        createServer((incoming, response) => {
          incoming.resume();
          setTimeout(() => response.end(), 2_500);
        }),
      );
      const SLUICE_BASE_URL = `http://127.0.0.1:${port}`;
      const ran = await run({ SLUICE_BASE_URL }, 'listen', '--forward-to', slow, '--limit', '1', '--json');
      expect(JSON.parse(ran.stdout)).toMatchObject({ outcome: 'acknowledged' });
    } finally {
      setGlobalDispatcher(before);
    }
  });

  describe('without a connection', () => {
    const SENTENCE = / Is this the right address\? See --base-url and SLUICE_BASE_URL\. \(connection_failed\)\n$/;
    const fails = async (SLUICE_BASE_URL: string, expected: string) => {
      const { code, stdout, stderr } = await run({ SLUICE_BASE_URL }, 'keys', 'revoke', 'key_x', '--yes');
      expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
      const lines = stderr.split('\n');
      expect(lines.at(-2)).toContain(`error: ${expected}`);
      expect(stderr).toMatch(SENTENCE);
    };

    it('says so of a port where nothing listens, and of an unknown name', async () => {
      await fails(`http://127.0.0.1:${await freePort()}`, 'Nothing accepts connections at this address.');
      await fails('http://sluice.invalid', 'The name of the host ');
    });

    it('says so of a server that closes connections, that speaks no HTTP, or no TLS', async () => {
      await fails(await start(createTcpServer((socket) => socket.destroy())), 'The connection was closed');
      await fails(await start(createTcpServer((socket) => socket.end('SSH-2.0-x\r\n'))), 'The response is not HTTP');
      await fails(`https://127.0.0.1:${port}`, 'The service does not speak TLS at this port');
    });

    it.each([
      ['closes the connection', () => createTcpServer((socket) => socket.once('data', () => socket.destroy()))],
      [
        'sends an alert',
        () => createTcpServer((socket) => socket.once('data', () => socket.end('\x15\x03\x01\0\x02\x02\x46'))),
      ],
    ])('asks for https:// where a server %s as one does that expects TLS', async (_, make) => {
      const { stderr } = await run({ SLUICE_BASE_URL: await start(make()) }, 'keys', 'revoke', 'key_x', '--yes');
      expect(stderr).toContain('s the address one with https://?');
    });

    it.each([
      '<center>The plain HTTP request was sent to HTTPS port</center>',
      "Reason: You're speaking plain HTTP to an SSL-enabled server port.",
      'Client sent an HTTP request to an HTTPS server.\n',
    ])('asks for https:// where a server that expects TLS answers %j', async (body) => {
      const server = createServer((_, response) => response.writeHead(400).end(body));
      const { code, stderr } = await run({ SLUICE_BASE_URL: await start(server) }, 'keys', 'revoke', 'key_x', '--yes');
      expect(code).toBe(1);
      expect(stderr).toContain('check baseUrl (https?) and proxies');
    });

    const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
    describeUnless(hasOpenssl ? null : 'openssl is not installed: certificates are not tested.')('with TLS', () => {
      it('says so of a certificate that is not known', async () => {
        const [key, cert] = [join(cli.home, 'key.pem'), join(cli.home, 'cert.pem')];
        const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
        const options = [
          '-x509',
          '-newkey',
          'rsa:2048',
          '-nodes',
          '-days',
          '2',
          '-keyout',
          key,
          '-out',
          cert,
          ...subject,
        ];
        expect(spawnSync('openssl', ['req', ...options]).status).toBe(0);
        const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) });
        const url = await start(server);
        await fails(url.replace('http:', 'https:'), 'The certificate of the service is not signed by an authority');
      });
    });
  });
});
