import { Fleet } from '../support/fleet.js';
import { freePort, until } from '../support/processes.js';
import { Receiver, type Behaviour } from '../support/receiver.js';
import type { Account } from '../support/api.js';

const BACKLOG = 300;
const CONCURRENCY = 20;

/** Sends the same again and again, past the rules of HTTP. */
function flood(again: string, beginning = ''): Behaviour {
  return ({ socket }) => {
    const block = again.repeat(Math.ceil(65_536 / again.length));
    const write = () => {
      while (socket?.destroyed === false && socket.write(block));
      socket?.once('drain', write);
    };
    socket?.on('error', () => undefined).write(beginning);
    write();
  };
}

/** Endpoints that never get well, in every way. */
const BAD: readonly (readonly [string, Behaviour])[] = [
  ['silent', () => undefined],
  ['mute', () => undefined],
  ['dumb', () => undefined],
  ['hung', () => undefined],
  ['slow', (response) => void setTimeout(() => response.writeHead(204).end(), 900)],
  ['failing', 500],
  ['endless', (response) => response.writeHead(200).write('x'.repeat(100_000))],
  ['lying', (response) => response.writeHead(200, { 'content-length': '1000' }).write('x')],
  ['hinting', flood('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ['chatty', flood('X-Flood: x\r\n', 'HTTP/1.1 200 OK\r\n')],
  ['crumbling', flood('1\r\nx\r\n', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')],
  ['redirecting', (response) => response.writeHead(302, { location: '/silent' }).end()],
];

describe('An account with endpoints that are slow, dead, endless, lying and redirecting', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let neighbour: Account;
  let refused: string;

  beforeAll(async () => {
    fleet = await Fleet.start({
      ...{ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_TIMEOUT_MS: '10000', WEBHOOK_RETRY_SECONDS: '3600' },
      WEBHOOK_CONCURRENCY: String(CONCURRENCY),
    });
    await fleet.worker();
    receiver = await Receiver.start();
    neighbour = await fleet.client.signUp();
    refused = `http://127.0.0.1:${await freePort()}/`;
    for (const account of [fleet.account, neighbour]) {
      await fleet.client.ask(account, 'PATCH /account', { delivery: 'webhooks' });
    }
    const create = (account: Account, url: string) => fleet.client.ask(account, 'POST /endpoints', { url });
    for (const [name, behaviour] of BAD) await create(fleet.account, receiver.url(`/${name}`, behaviour));
    await create(fleet.account, refused);
    await create(fleet.account, receiver.url('/good'));
    await create(neighbour, receiver.url('/neighbour'));
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });

  it('takes no place from an account, not even with others whose new endpoints never answer', async () => {
    let open = 0;
    const never: Behaviour = (response) => {
      open++;
      response.on('close', () => open--);
    };
    const newcomers: Account[] = [];
    for (let accounts = 0; accounts < 6; accounts++) {
      const newcomer = await fleet.client.signUp();
      newcomers.push(newcomer);
      await fleet.client.ask(newcomer, 'PATCH /account', { delivery: 'webhooks' });
      for (let count = 0; count < CONCURRENCY / 2; count++)
        await fleet.client.ask(newcomer, 'POST /endpoints', { url: receiver.url(`/never-${count}`, never) });
    }
    const messages = Array<object>(4).fill({ message: 'hello' });
    await Promise.all(newcomers.map((newcomer) => fleet.client.ask(newcomer, 'POST /messages/batch', { messages })));
    await until(() => open >= CONCURRENCY);
    await until(async () => {
      const { id } = await fleet.client.sent(neighbour);
      await until(() => receiver.ids('/neighbour').includes(id));
      return open >= CONCURRENCY;
    });
  });

  it('delays neither its other endpoint nor those of other accounts', async () => {
    const messages = Array.from({ length: BACKLOG }, (_, index) => ({ message: String(index) }));
    expect((await fleet.client.ask(fleet.account, 'POST /messages/batch', { messages })).status).toBe(202);
    const latencies: number[] = [];
    for (let count = 0; count < 20; count++) {
      const sentAt = performance.now();
      const { id } = await fleet.client.sent(neighbour);
      await until(() => receiver.ids('/neighbour').includes(id));
      latencies.push(performance.now() - sentAt);
    }
    await until(() => new Set(receiver.ids('/good')).size === BACKLOG);
    process.stdout.write(`Half of the neighbour's messages arrived within ${median(latencies)} ms.\n`);
    // Half of what an endpoint takes that never answers.
    expect(median(latencies)).toBeLessThan(5_000);
    // Meanwhile the others still have most of theirs, which therefore could have been in the way.
    const [left] = await fleet.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM sluice.endpoint_deliveries WHERE failures = 0',
    );
    expect(left?.count).toBeGreaterThan(2 * BACKLOG);
  });
});

function median(values: readonly number[]): number {
  return Math.round([...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN);
}
