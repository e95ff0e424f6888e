import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { until } from '../../../../test/support/processes.js';
import { describeUnless } from '../../../../test/support/skipping.js';
import { CountedResponse, countForCaller } from './pipelining.js';

const EACH = 30;
const REQUESTS = 'GET / HTTP/1.1\r\nHost: sluice\r\n\r\n'.repeat(EACH);

const missing = process.platform === 'linux' ? null : 'only Linux has all addresses of 127.0.0.0/8';

describeUnless(missing)('CountedResponse', () => {
  let server: Server;
  let presentsKey: boolean;
  let account: string | null;
  let requests = 0;
  let closed: ServerResponse[];
  let accepted = 0;
  let connected: Set<Socket>;
  beforeAll(async () => {
    server = createServer({ ServerResponse: CountedResponse }, (request, response) => {
      requests++;
      if (presentsKey) countForCaller(request.socket, account);
      response.on('close', () => closed.push(response));
    }).listen(0, '127.0.0.1');
    server.on('connection', (socket) => {
      accepted++;
      socket.once('close', () => accepted--);
    });
    await once(server, 'listening');
  });
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'Date'] });
    presentsKey = true;
    account = null;
    requests = 0;
    closed = [];
  });
  afterEach(async () => {
    await disconnect();
    jest.advanceTimersByTime(1_000);
    jest.useRealTimers();
  });
  afterAll(() => server.close());

  async function disconnect(): Promise<void> {
    server.closeAllConnections();
    await until(() => accepted === 0);
  }

  /** Each from an address of its own. Nothing is answered. */
  function open(connections: number): void {
    const { port } = server.address() as AddressInfo;
    connected = new Set();
    for (let index = 1; index <= connections; index++) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${index}` });
      connected.add(socket);
      socket.on('error', () => undefined).on('close', () => connected.delete(socket));
      socket.resume().write(REQUESTS);
    }
  }

  const isCutTo = (pipelined: number) =>
    // The first request of a connection waits behind none.
    until(() => connected.size <= pipelined / (EACH - 1) && accepted === connected.size);

  it('closes connections while too many requests of all addresses are pipelined', async () => {
    open(80);
    await isCutTo(2_000);
    expect(connected.size).toBeGreaterThan(60);
  });

  it('closes connections while too many requests of an account are pipelined, from all its addresses', async () => {
    account = 'acct_1';
    open(40);
    await isCutTo(500);
    expect(connected.size).toBeGreaterThan(10);
  });

  it('lets a connection pipeline a few requests, however many others do', async () => {
    open(80);
    await isCutTo(2_000);
    const others = connected;
    requests = 0;
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.2.1' });
    socket.on('error', () => undefined).write(REQUESTS.slice(0, (6 * REQUESTS.length) / EACH));
    await until(() => requests === 6);
    expect([socket.destroyed, others.size > 60]).toEqual([false, true]);
  });

  it('counts requests of a lost connection for another second', async () => {
    open(80);
    await isCutTo(2_000);
    await disconnect();
    open(1);
    await isCutTo(0);
    jest.advanceTimersByTime(1_000);
    requests = 0;
    open(60);
    await until(() => requests === 60 * EACH);
    expect(connected.size).toBe(60);
  });

  it('counts connections without a key as one address, and leaves the rest to the others', async () => {
    presentsKey = false;
    open(80);
    await isCutTo(500);
    expect(connected.size).toBeGreaterThan(10);
    presentsKey = true;
    requests = 0;
    open(40);
    await until(() => requests === 40 * EACH);
    expect(connected.size).toBe(40);
  });

  it('closes each response of a lost connection once, also those that wait behind another one', async () => {
    open(2);
    await until(() => requests === 2 * EACH);
    for (const socket of connected) socket.resetAndDestroy();
    await until(() => accepted === 0);
    expect(closed).toHaveLength(2 * EACH);
    expect(new Set(closed).size).toBe(2 * EACH);
    expect(closed.every(({ destroyed }) => destroyed)).toBe(true);
  });
});
