import { setTimeout as sleep } from 'node:timers/promises';
import { Consumer } from '../support/consumer.js';
import { Fleet } from '../support/fleet.js';
import { SHIFTED_CLOCK, until, type Program } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';
import { NO_REDIS, TestRedis } from '../support/redis.js';
import { Rounds } from '../support/rounds.js';
import { describeUnless } from '../support/skipping.js';

const KEYS = ['a', 'b', 'c', 'd'];
const rounds = new Rounds();
jest.setTimeout(300_000);

/** Sends messages with keys, each key's one after another, and each until it is acknowledged. */
class Senders {
  /** Of each key, how many messages were acknowledged. */
  readonly acknowledged = new Map(KEYS.map((key) => [key, 0]));
  private stopped = false;
  private readonly sending = KEYS.map((key) => this.send(key));

  constructor(private readonly fleet: Fleet) {}

  get count(): number {
    return [...this.acknowledged.values()].reduce((sum, one) => sum + one, 0);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.sending);
  }

  private async send(key: string): Promise<void> {
    await sleep(0);
    for (let number = 0; !this.stopped; number++) {
      const headers = { 'idempotency-key': `${key}-${number}` };
      const body = JSON.stringify({ message: `${key} ${number}`, orderingKey: key });
      const accepted = async () => {
        try {
          return (await this.fleet.client.send(this.fleet.account, { body, headers })).status === 202;
        } catch {
          return false;
        }
      };
      await until(accepted, 120_000);
      this.acknowledged.set(key, number + 1);
      await sleep(10);
    }
  }
}

/** What is out of order: of each key, a message may be repeated, but none may come after a later one. */
function disorder(texts: readonly string[], acknowledged: ReadonlyMap<string, number>): string[] {
  return KEYS.flatMap((key) => {
    const numbers = texts.filter((text) => text.startsWith(`${key} `)).map((text) => Number(text.slice(2)));
    const expected = Array.from({ length: acknowledged.get(key) ?? 0 }, (_, number) => number);
    const steps = numbers.filter((number, index) => number !== numbers[index - 1]);
    return steps.join() === expected.join() ? [] : [`${key}: ${numbers.join(' ')}`];
  });
}

/** A request that was accepted: the texts of its messages, which have one key, and when it began and was answered. */
interface Accepted {
  readonly key: string;
  readonly texts: readonly string[];
  readonly from: number;
  readonly until: number;
}

/** Sends messages from several senders at the same time, some in batches, by each API in turn. */
async function sendAtOnce({ apis, account }: Fleet, halfway: () => Promise<unknown>): Promise<Accepted[]> {
  const accepted: Accepted[] = [];
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${account.key}` };
  const send = async (sender: number, number: number) => {
    const key = KEYS[(sender + number) % 2] ?? '';
    const texts = Array.from({ length: number % 3 === 0 ? 3 : 1 }, (_, index) => `${key} ${sender}.${number}.${index}`);
    const messages = texts.map((message) => ({ message, orderingKey: key }));
    const [path, body] = messages.length > 1 ? ['/messages/batch', { messages }] : ['/messages', messages[0]];
    const from = performance.now();
    const url = `${apis[((sender + number) % 3) % 2]?.url}${path}`;
    const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    accepted.push({ key, texts, from, until: performance.now() });
    expect(status).toBe(202);
  };
  const run = async (sender: number) => {
    for (let number = 0; number < 30; number++) {
      if (sender === 0 && number === 15) await halfway();
      await send(sender, number);
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5].map(run));
  return accepted;
}

/** What is missing, and what came before a message that was accepted before it was sent. */
function overtaking(accepted: readonly Accepted[], texts: readonly string[]): string[] {
  const places = new Map([...new Set(texts)].map((text, place) => [text, place]));
  const placeOf = (text: string | undefined) => places.get(text ?? '') ?? NaN;
  const missing = accepted.flatMap((one) => one.texts.filter((text) => !places.has(text)));
  const batches = accepted.filter((one) =>
    one.texts.some((text, n) => n > 0 && placeOf(text) < placeOf(one.texts[n - 1])),
  );
  const overtaken = accepted.flatMap((one) =>
    accepted.filter(
      ({ key, texts: [first], from }) =>
        key === one.key && one.until < from && placeOf(first) < placeOf(one.texts.at(-1)),
    ),
  );
  return [...missing, ...[...batches, ...overtaken].map((one) => one.texts.join())];
}

describe('Ordering keys, under load', () => {
  let fleet: Fleet;
  let worker: Program;
  afterEach(async () => {
    await fleet.stop();
  });
  afterAll(() => {
    rounds.print();
  });

  const nothingOpen = () =>
    until(
      async () =>
        (await fleet.sql(`SELECT FROM sluice.messages WHERE status IN ('queued', 'processing') LIMIT 1`)).length === 0,
      120_000,
    );
  const going = async (senders: Senders) => {
    const wanted = senders.count + 20;
    await until(() => senders.count >= wanted, 120_000);
  };
  const restart = async (programs: readonly Program[], database = false) => {
    await Promise.all(programs.map((program) => program.kill()));
    if (database) await fleet.database.kill();
    if (database) await fleet.database.restart();
    await Promise.all(programs.map((program) => program.restart()));
  };

  it.each(rounds.all)('%s: handlers get messages in order, whatever is killed', async () => {
    fleet = await Fleet.deploy();
    worker = await fleet.worker();
    const senders = new Senders(fleet);
    const { api } = fleet;
    for (const [programs, database] of [
      [[api], false],
      [[worker], false],
      [[], true],
      [[api, worker], true],
    ] as const) {
      await going(senders);
      await restart(programs, database);
    }
    await going(senders);
    await senders.stop();
    await nothingOpen();
    const texts = fleet.handled().map(({ message }) => message);
    expect(disorder(texts, senders.acknowledged)).toEqual([]);
    expect(await fleet.census()).toBe(0);
    expect(await fleet.sql('SELECT * FROM sluice.ordered_deliveries')).toEqual([]);
  });

  it('consumers lease messages in order, whatever is killed', async () => {
    fleet = await Fleet.deploy();
    const { api } = fleet;
    await fleet.client.ask(fleet.account, 'PATCH /account', { delivery: 'pull' });
    const senders = new Senders(fleet);
    const texts: string[] = [];
    let stopped = false;
    const consume = async () => {
      const consumer = new Consumer(fleet.client, fleet.account);
      while (!stopped) {
        const leased = await consumer.lease({ max: 10, seconds: 1, wait: 1 }).catch(() => []);
        for (const lease of leased) {
          texts.push(lease.message);
          await consumer.ack(lease).catch(() => undefined);
        }
      }
    };
    const consuming = Promise.all([consume(), consume()]);
    for (const database of [false, true]) {
      await going(senders);
      await restart([api], database);
    }
    await going(senders);
    await senders.stop();
    await nothingOpen();
    stopped = true;
    await consuming;
    expect(disorder(texts, senders.acknowledged)).toEqual([]);
    expect(await fleet.census()).toBe(0);
  });

  it('endpoints get messages in order, whatever is killed', async () => {
    fleet = await Fleet.deploy({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '0,0,0,0,0,1,1,1,1' });
    worker = await fleet.worker();
    const receiver = await Receiver.start();
    const { api } = fleet;
    await fleet.client.ask(fleet.account, 'PATCH /account', { delivery: 'webhooks' });
    // Each endpoint refuses some of its requests.
    for (const [path, every] of [
      ['/one', 3],
      ['/two', 7],
    ] as const) {
      const url = receiver.url(path, (response, _received, n) => response.writeHead(n % every === 0 ? 500 : 204).end());
      await fleet.client.ask(fleet.account, 'POST /endpoints', { url });
    }
    const senders = new Senders(fleet);
    for (const [programs, database] of [
      [[worker], false],
      [[api, worker], true],
    ] as const) {
      await going(senders);
      await restart(programs, database);
    }
    await going(senders);
    await senders.stop();
    await nothingOpen();
    for (const path of ['/one', '/two']) {
      const bodies = receiver.at(path).map(({ body }) => JSON.parse(body) as { data: { message: string } });
      const texts = bodies.map(({ data }) => data.message);
      expect(disorder(texts, senders.acknowledged)).toEqual([]);
    }
    receiver.stop();
    expect(await fleet.census()).toBe(0);
  });

  // The ids of messages are times of the process that accepts them.
  it('is the order of acceptance by APIs whose clocks differ by twenty minutes', async () => {
    fleet = await Fleet.startProcesses({ ...SHIFTED_CLOCK, WEBHOOK_ALLOW_PRIVATE: 'true' }, 2);
    const receiver = await Receiver.start();
    const url = receiver.url('/', (response) => response.writeHead(204).end());
    const [ahead, behind] = fleet.apis;
    await ahead?.setClock(600_000);
    await behind?.setClock(-600_000);
    const acknowledged = new Map(KEYS.map((key) => [key, 12]));
    await fleet.client.ask(fleet.account, 'POST /endpoints', { url });
    // All wait before the first is delivered, and then those of each mode for those of the modes before.
    for (const delivery of ['handler', 'pull', 'webhooks']) {
      await fleet.client.ask(fleet.account, 'PATCH /account', { delivery });
      for (let number = 0; number < 12; number++) {
        fleet.client.url = fleet.apis[number % 2]?.url ?? '';
        for (const key of KEYS) {
          const body = JSON.stringify({ message: `${key} ${number}`, orderingKey: key });
          expect((await fleet.client.send(fleet.account, { body })).status).toBe(202);
        }
      }
    }
    await fleet.worker();
    const consumer = new Consumer(fleet.client, fleet.account);
    const pulled: string[] = [];
    while (pulled.length < 48) {
      for (const lease of await consumer.lease({ max: 10, wait: 1 })) {
        pulled.push(lease.message);
        await consumer.ack(lease);
      }
    }
    await nothingOpen();
    const posted = receiver.at('/').map(({ body }) => (JSON.parse(body) as { data: { message: string } }).data.message);
    const handled = fleet.handled().map(({ message }) => message);
    const disorders = [pulled, posted, handled].map((texts) => disorder(texts, acknowledged));
    expect(disorders).toEqual([[], [], []]);
    receiver.stop();
  });

  it.each(['handler', 'pull', 'webhooks'])(
    'is the order of acceptance by APIs whose clocks differ and change, at the same time, for %s',
    async (delivery) => {
      fleet = await Fleet.startProcesses({ ...SHIFTED_CLOCK, WEBHOOK_ALLOW_PRIVATE: 'true' }, 2);
      const receiver = await Receiver.start();
      const paths = ['/one', '/two'];
      for (const path of paths) {
        const url = receiver.url(path, (response) => response.writeHead(204).end());
        await fleet.client.ask(fleet.account, 'POST /endpoints', { url });
      }
      await fleet.client.ask(fleet.account, 'PATCH /account', { delivery });
      await fleet.worker();
      const shift = (ms: number) => Promise.all(fleet.apis.map((api, index) => api.setClock(index === 0 ? ms : -ms)));
      await shift(600_000);
      const pulled: string[] = [];
      const consumer = new Consumer(fleet.client, fleet.account);
      const pullUntil = async (isOver: () => Promise<boolean>) => {
        while (!(await isOver())) {
          for (const lease of await consumer.lease({ max: 10, wait: 1 })) {
            pulled.push(lease.message);
            await consumer.ack(lease);
          }
        }
      };
      const open = `SELECT FROM sluice.messages WHERE status IN ('queued', 'processing') LIMIT 1`;
      const sending = sendAtOnce(fleet, () => shift(-600_000));
      if (delivery === 'pull') {
        let isSent = false;
        void sending.finally(() => (isSent = true));
        await pullUntil(async () => isSent && (await fleet.sql(open)).length === 0);
      }
      const accepted = await sending;
      await nothingOpen();
      const posted = paths.map((path) =>
        receiver.at(path).map(({ body }) => (JSON.parse(body) as { data: { message: string } }).data.message),
      );
      const handled = fleet.handled().map(({ message }) => message);
      const received = { handler: [handled], pull: [pulled], webhooks: posted }[delivery] ?? [];
      for (const texts of received) expect(overtaking(accepted, texts)).toEqual([]);
      // Requests at the same time have either order, but the same for everybody.
      const orders = received.map((texts) =>
        KEYS.map((key) => [...new Set(texts)].filter((text) => text.startsWith(key))),
      );
      for (const order of orders) expect(order).toEqual(orders[0]);
      receiver.stop();
    },
  );

  describeUnless(NO_REDIS)('with a queue on Redis', () => {
    it('handlers get messages in order although Redis loses its keys', async () => {
      const redis = await TestRedis.start();
      fleet = await Fleet.startForLoad({ REDIS_URL: redis.url });
      await fleet.worker();
      const senders = new Senders(fleet);
      for (let times = 0; times < 3; times++) {
        await going(senders);
        await redis.run((client) => client.flushall());
      }
      await going(senders);
      await senders.stop();
      await nothingOpen();
      const texts = fleet.handled().map(({ message }) => message);
      expect(disorder(texts, senders.acknowledged)).toEqual([]);
      expect(await fleet.sql('SELECT * FROM sluice.ordered_deliveries')).toEqual([]);
      await redis.stop();
    });
  });
});
