import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Environment, GiveUp, RetryDelivery } from '#delivery/index.js';
import { aDelivery } from '../../../../test/support/messages.js';
import { until } from '../../../../test/support/processes.js';
import { HttpHandler } from './http-handler.js';

const delivery = aDelivery({ id: 'msg_1', message: 'Grüße', attempt: 2 });

describe('HttpHandler', () => {
  let server: Server;
  let url: URL;
  let handler: HttpHandler;
  let connections = 0;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  const received: { method?: string; headers: IncomingMessage['headers']; body: string }[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        received.push({ method: request.method ?? '', headers: request.headers, body });
        respond(request, response);
      });
    });
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/in`);
  });
  beforeEach(() => {
    received.length = 0;
    connections = 0;
    handler = new HttpHandler(url);
  });
  afterEach(() => handler.onApplicationShutdown());
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const respondWith = (status: number, headers: Record<string, string> = {}) => {
    respond = (_, response) => response.writeHead(status, headers).end('whatever');
  };
  const handle = (signal = AbortSignal.timeout(10_000), what = delivery) => handler.handle(what, signal);
  const failure = async (signal?: AbortSignal) =>
    handle(signal).then(
      () => null,
      (error: unknown) => error as Error,
    );

  it.each([200, 202, 204])('succeeds if the receiver returns %s', async (status) => {
    respondWith(status);
    await handle();
    expect(received).toMatchObject([
      { method: 'POST', body: 'Grüße', headers: { 'idempotency-key': 'msg_1', 'x-attempt': '2' } },
    ]);
    expect(received[0]?.headers).not.toHaveProperty('traceparent');
    expect(received[0]?.headers).not.toHaveProperty('authorization');
  });

  it('passes on the trace', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    respondWith(204);
    await handle(undefined, { ...delivery, traceparent });
    expect(received[0]?.headers.traceparent).toBe(traceparent);
  });

  it.each([400, 401, 404, 410, 413, 422])('fails the message if the receiver returns %s', async (status) => {
    respondWith(status, { 'retry-after': '1' });
    expect(await failure()).toEqual(new GiveUp(`The receiver returned ${status}.`));
    expect(await failure()).toBeInstanceOf(GiveUp);
  });

  it('does not follow redirects', async () => {
    respondWith(307, { location: url.href });
    expect(await failure()).toBeInstanceOf(GiveUp);
    expect(received).toHaveLength(1);
  });

  it.each([429, 503])('retries after the time in Retry-After of a %s', async (status) => {
    respondWith(status, { 'retry-after': '7' });
    const error = await failure();
    expect(error).toBeInstanceOf(RetryDelivery);
    expect(error).toMatchObject({ message: `The receiver returned ${status}.`, afterMs: 7_000 });
  });

  it.each([408, 425, 429, 500, 502, 503])('fails the attempt if the receiver returns %s', async (status) => {
    respondWith(status);
    const error = await failure();
    expect(error).toEqual(new Error(`The receiver returned ${status}.`));
    expect([GiveUp, RetryDelivery].some((kind) => error instanceof kind)).toBe(false);
  });

  it.each([0, 100_000])('reuses the connection after a body of %s bytes', async (bytes) => {
    respond = (_, response) => response.end('x'.repeat(bytes));
    await handle();
    await until(async () => {
      const before = connections;
      await handle();
      return connections === before;
    });
  });

  it('does not wait for the rest of a response', async () => {
    respond = (_, response) => response.writeHead(200).write('the beginning');
    await handle();
    // Sooner than its signal aborts.
  }, 9_000);

  it.each([
    ['user%40example:a%3Ab', 'user@example:a:b'],
    ['us%C3%A9r:gr%C3%BC%C3%9Fe', 'usér:grüße'],
    ['user:pa%ss', 'user:pa%ss'],
    ['100%:100%', '100%:100%'],
    ['user:%zz%25', 'user:%zz%'],
    [':token', ':token'],
    ['token', 'token:'],
    ['token:', 'token:'],
  ])('sends the credentials %s of the URL', async (written, sent) => {
    respondWith(204);
    const HTTP_HANDLER_URL = url.href.replace('//', `//${written}@`);
    const login = new Environment({ HTTP_HANDLER_URL }).url('HTTP_HANDLER_URL', '', ['http:']);
    const other = new HttpHandler(login);
    await other.handle(delivery, AbortSignal.timeout(10_000));
    await other.onApplicationShutdown();
    expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from(sent).toString('base64')}`);
  });

  it('reveals no details if the receiver is unreachable', async () => {
    respond = (request) => request.socket.destroy();
    expect((await failure())?.message).toBe('The receiver cannot be reached.');
  });

  it('stops when its signal aborts', async () => {
    respond = () => undefined;
    expect((await failure(AbortSignal.timeout(50)))?.name).toBe('TimeoutError');
  });
});
