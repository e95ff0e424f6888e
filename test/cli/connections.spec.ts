import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { Cli } from '../support/cli.js';
import { listen } from '../support/processes.js';
import { AUTHORITY, EXPIRED, INTERMEDIATE, KEY, LEAF, NOT_YET_VALID } from '../support/receiver-certificates.js';

const ALERT = Buffer.from([0x15, 3, 3, 0, 2, 2, 40]);

const withTls = (cert: string, options: TlsOptions = {}) =>
  createHttpsServer({ key: KEY, cert: cert + INTERMEDIATE, ...options }, (_, response) => response.end('{"id":"x"}'));
const answers = (bytes: Buffer | string) => createTcpServer((socket) => socket.once('data', () => socket.end(bytes)));
const closes = () => createTcpServer((socket) => socket.once('data', () => socket.destroy()));
const old: TlsOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
const refuses = (status: number) =>
  createServer((_, response) => response.writeHead(status).end()).on('connect', (_, socket: Socket) =>
    socket.end(`HTTP/1.1 ${status} No\r\n\r\n`),
  );

describe('A connection that fails', () => {
  const servers: Server[] = [];
  let cli: Cli;
  beforeAll(() => {
    cli = new Cli({ SLUICE_API_KEY: 'slc_x' });
    cli.file('ca.pem', AUTHORITY);
  });
  afterAll(() => {
    cli.remove();
    for (const server of servers) server.close();
  });

  const start = async (server: Server, scheme = 'http') => {
    servers.push(server);
    return (await listen(server)).replace('http:', `${scheme}:`).replace('127.0.0.1', 'localhost');
  };
  /** What a command says with these settings: one line. */
  const said = async (env: Readonly<Record<string, string>>) => {
    const NODE_EXTRA_CA_CERTS = `${cli.home}/ca.pem`;
    const ran = await cli.run(['keys', 'revoke', 'key_x', '--yes'], { env: { NODE_EXTRA_CA_CERTS, ...env } });
    expect({ ...ran, stderr: '' }).toEqual({ code: 5, stdout: '', stderr: '' });
    expect(ran.stderr).toMatch(/^error: [^\n]+ \(connection_failed\)\n$/);
    expect(ran.stderr).not.toMatch(/OpenSSL|deps\/|0A000|secret/);
    return ran.stderr.replace(/^error: /, '');
  };

  it.each([
    ['of an authority that is not known', () => withTls(LEAF), { NODE_EXTRA_CA_CERTS: '' }, 'is not signed by an auth'],
    ['that has expired', () => withTls(EXPIRED), {}, 'The certificate of the service has expired.'],
    ['that is not valid yet', () => withTls(NOT_YET_VALID), {}, 'is not valid yet: is the clock of this machine right'],
    ['of an old server', () => withTls(LEAF, old), {}, 'have no version of TLS in common.'],
    ['of a server that refuses', () => answers(ALERT), {}, 'TLS with the service has failed: sslv3 alert handshake'],
    [
      'of a server without TLS',
      () => refuses(200),
      {},
      'does not speak TLS at this port: is its address one with http:',
    ],
    ['of a server that closes', closes, {}, 'The connection was closed before'],
  ])('says what is wrong with TLS %s', async (_, make, env, expected) => {
    expect(await said({ SLUICE_BASE_URL: await start(make(), 'https'), ...env })).toContain(expected);
  });

  it.each([
    ['is refused', () => refuses(403), 'The proxy has refused to connect to the service, with the status 403.'],
    ['is refused in vain', () => refuses(502), 'The proxy has refused to connect to the service, with the status 502.'],
    ['needs a password', () => refuses(407), 'The proxy asks for a user and a password: http://user:password@'],
    ['is no HTTP', () => answers('SSH-2.0-x\r\n'), 'The response is not HTTP'],
    ['is closed', closes, 'The proxy has closed the connection.'],
    ['is only for TLS', () => createTlsServer({ key: KEY, cert: LEAF }), 'The proxy has closed the connection.'],
  ])('says what is wrong with a proxy whose tunnel %s', async (_, make, expected) => {
    const { host } = new URL(await start(make()));
    const env = { HTTPS_PROXY: `http://user:secret@${host}`, SLUICE_BASE_URL: 'https://sluice.invalid' };
    const sentence = await said(env);
    expect(sentence).toContain(expected);
    expect(sentence).toContain('HTTPS_PROXY is set: is the proxy right?');
  });

  it('says that a certificate is for another host, also behind a tunnel', async () => {
    const { port } = new URL(await start(withTls(LEAF), 'https'));
    const proxy = createServer().on('connect', (_, socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(connect(Number(port), '127.0.0.1')).pipe(socket);
    });
    const env = { HTTPS_PROXY: await start(proxy), SLUICE_BASE_URL: 'https://other.invalid' };
    expect(await said(env)).toContain('The certificate of the service is for another host.');
  });

  it('says that a proxy without a tunnel needs a password', async () => {
    const env = { HTTP_PROXY: await start(refuses(407)), SLUICE_BASE_URL: 'http://sluice.invalid' };
    expect(await said(env)).toContain('The proxy asks for a user and a password');
  });

  it('says what is wrong with a proxy that is reached by TLS', async () => {
    const proxy = (await start(withTls(LEAF), 'https')).replace('localhost', '127.0.0.1');
    const env = { HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: '', SLUICE_BASE_URL: 'https://sluice.invalid' };
    expect(await said(env)).toContain('is not signed by an authority');
  });

  it.each([
    'http://',
    ':::',
    'socks5://127.0.0.1:1',
    'ftp://a',
    'http://a b',
    'http://a:99999',
    'http://u:secret%zz@a',
  ])('is not tried by the proxy %j', async (proxy) => {
    for (const name of ['HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']) {
      expect(await cli.run(['whoami'], { env: { [name]: proxy } })).toEqual({
        code: 2,
        stdout: '',
        stderr: `error: ${name} must be a URL like http://proxy.example.com:3128.\n`,
      });
    }
  });

  it.each(['', '/', '/path', '/?query', '#fragment'])('has a proxy with %j after its port', async (more) => {
    const env = { HTTP_PROXY: `${await start(refuses(403))}${more}`, SLUICE_BASE_URL: 'http://sluice.invalid' };
    const { stderr } = await cli.run(['whoami'], { env });
    expect(stderr).toContain('The response has the status 403 and is not from Sluice');
  });
});
