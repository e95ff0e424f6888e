import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConflictError, Sluice, type HeldMessage, type SluiceOptions } from '#client/index.js';
import { until } from '../support/processes.js';
import { Receiver, type Behaviour, type Received } from '../support/receiver.js';

describe('A message that sluice.consume holds', () => {
  let server: Receiver;
  let stop: AbortController;
  let waiting: string[];
  beforeEach(async () => {
    server = await Receiver.start();
    stop = new AbortController();
    waiting = ['msg_1'];
    server.url('/messages/lease', (response, { body }) => {
      const { max } = JSON.parse(body) as { max: number };
      const leased = waiting.splice(0, max).map((id) => ({ id, message: id, attempt: 1, leaseToken: id }));
      if (leased.length > 0) response.end(JSON.stringify({ data: leased }));
    });
    server.url('/messages/ack', acknowledged);
    jest.spyOn(Math, 'random').mockReturnValue(0.1);
  });
  afterEach(() => {
    stop.abort();
    server.stop();
    jest.restoreAllMocks();
  });

  const acknowledged = (response: ServerResponse, { body }: Received) => {
    const { leases } = JSON.parse(body) as { leases: { id: string }[] };
    response.end(JSON.stringify({ data: leases.map(({ id }) => ({ id, result: 'acknowledged' })) }));
  };
  const lost: Behaviour = (response) =>
    response.writeHead(409).end(JSON.stringify({ code: 'lease_lost', detail: 'It is lost.' }));
  /** Answers with success once `isUp()`. */
  const once =
    (isUp: () => boolean, success: typeof acknowledged): Behaviour =>
    (response, received) => {
      if (isUp()) success(response, received);
      else response.writeHead(503).end();
    };
  const extended = (response: ServerResponse) => {
    response.end('{}');
  };
  const consume = (options: object = {}, client: Partial<SluiceOptions> = {}) =>
    new Sluice({ apiKey: 'slc_x', baseUrl: server.origin, ...client }).consume({ signal: stop.signal, ...options });
  const first = async (messages: AsyncGenerator<HeldMessage, void, undefined>): Promise<HeldMessage> => {
    const { value } = await messages.next();
    if (value === undefined) throw new Error('There is none.');
    return value;
  };

  it('is held while its lease has time left, however often an extension fails', async () => {
    let isUp = false;
    server.url(
      '/messages/msg_1/extend',
      once(() => isUp, extended),
    );
    const message = await first(consume({ leaseSeconds: 6 }, { maxTries: 1, deadlineMs: 300 }));
    await until(() => server.at('/messages/msg_1/extend').length >= 3);
    expect(message.signal.aborted).toBe(false);
    isUp = true;
    await sleep(200);
    await message.ack();
    expect(message.signal.aborted).toBe(false);
  });

  it('is lost when its lease ends, not when the tries do', async () => {
    server.url('/messages/msg_1/extend', 503);
    const startedAt = performance.now();
    const message = await first(consume({ leaseSeconds: 1 }));
    await until(() => message.signal.aborted);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    expect(message.signal.reason).toMatchObject({ code: 'lease_lost' });
    const tries = server.at('/messages/msg_1/extend').length;
    await expect(message.ack()).rejects.toThrow(ConflictError);
    await sleep(200);
    // One may have been on its way.
    expect(server.at('/messages/msg_1/extend').length).toBeLessThanOrEqual(tries + 1);
    expect(server.at('/messages/ack')).toHaveLength(0);
  });

  it('is extended until its acknowledgement is confirmed, which is tried as long as the lease lasts', async () => {
    const extensions = () => server.at('/messages/msg_1/extend').length;
    server.url('/messages/msg_1/extend', extended);
    server.url(
      '/messages/ack',
      once(() => extensions() >= 2, acknowledged),
    );
    const message = await first(consume({ leaseSeconds: 5 }, { maxTries: 1, deadlineMs: 300 }));
    await message.ack();
    expect(extensions()).toBeGreaterThanOrEqual(2);
    const ended = extensions();
    await sleep(200);
    expect(extensions()).toBe(ended);
  });

  it('is not acknowledged after its lease has ended meanwhile', async () => {
    server.url('/messages/msg_1/extend', 503);
    server.url('/messages/ack', 503);
    const message = await first(consume({ leaseSeconds: 1 }));
    await expect(message.ack()).rejects.toThrow(expect.objectContaining({ code: 'lease_lost' }) as Error);
  });

  it('is acknowledged although its extension finds that the lease has ended by that', async () => {
    server.url('/messages/msg_1/extend', lost);
    server.url('/messages/ack', (response, received) => {
      void until(() => server.at('/messages/msg_1/extend').length > 0)
        .then(() => sleep(100))
        .then(() => {
          acknowledged(response, received);
        });
    });
    const message = await first(consume({ leaseSeconds: 5 }));
    await message.ack();
    expect(message.signal.aborted).toBe(false);
  });

  it('is not given to a loop once its lease is lost', async () => {
    waiting = ['msg_1', 'msg_2', 'msg_3'];
    server.url('/messages/msg_1/extend', extended);
    server.url('/messages/msg_2/extend', extended);
    server.url('/messages/msg_3/extend', lost);
    const got: HeldMessage[] = [];
    for await (const message of consume({ concurrency: 3, leaseSeconds: 5 })) {
      got.push(message);
      if (message.id === 'msg_2') {
        await until(() => server.at('/messages/msg_3/extend').length > 0);
        await sleep(1_000);
        waiting.push('msg_4');
      }
      if (message.id === 'msg_4') stop.abort();
    }
    expect(got.map(({ id }) => id)).toEqual(['msg_1', 'msg_2', 'msg_4']);
    await Promise.all(got.map((message) => message.ack()));
  });

  it('was not leased before a loop that takes one after another asked for it', async () => {
    waiting = Array.from({ length: 10 }, (_, n) => `msg_${n}`);
    const ended: Promise<void>[] = [];
    for await (const message of consume({ concurrency: 10 })) {
      ended.push(message.ack());
      if (ended.length === 3) stop.abort();
    }
    await Promise.all(ended);
    expect(waiting).toHaveLength(7);
    expect(server.received.filter(({ path }) => path.endsWith('/nack'))).toEqual([]);
  });

  it('waits longer than deadlineMs for an idle queue', async () => {
    waiting = [];
    server.url('/messages/lease', (response) => {
      setTimeout(() => response.end('{"data":[{"id":"msg_1"}]}'), 500);
    });
    expect((await first(consume({}, { deadlineMs: 200 }))).id).toBe('msg_1');
  });

  it.each([0, -1, 1.5, 101, NaN])('is refused for a concurrency of %p', async (concurrency) => {
    await expect(consume({ concurrency }).next()).rejects.toThrow(RangeError);
  });

  it.each([0, -1, 1.5, NaN])('is refused for a limit of %p', async (limit) => {
    await expect(consume({ limit }).next()).rejects.toThrow(RangeError);
  });

  it.each([0, -1, Number.NaN, null])('holds nothing for %s seconds', async (leaseSeconds) => {
    await expect(consume({ leaseSeconds }).next()).rejects.toThrow(RangeError);
  });
});
