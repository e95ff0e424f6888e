import type { ServerResponse } from 'node:http';
import { Sluice, type EventOptions, type StatusEvent, type SluiceError } from '#client/index.js';
import { accountForEach, sharedApi } from '../support/api.js';
import { until } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';

describe('sluice.events', () => {
  let server: Receiver;
  let stop: AbortController;
  beforeEach(async () => {
    server = await Receiver.start();
    stop = new AbortController();
  });
  afterEach(() => {
    stop.abort();
    server.stop();
    jest.useRealTimers();
  });

  const client = () => new Sluice({ apiKey: 'slc_x', baseUrl: server.origin, maxTries: 1 });
  const event = (id: string, message: string) => `event: message.queued\nid: ${id}\ndata: {"message":"${message}"}\n\n`;
  const open = (response: ServerResponse, ...texts: string[]) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of texts) response.write(text);
  };
  /** Collects events until it has got so many. */
  const collect = async (count: number, options: EventOptions = {}, sluice = client()): Promise<StatusEvent[]> => {
    const events: StatusEvent[] = [];
    for await (const one of sluice.events({ signal: stop.signal, ...options })) {
      events.push(one);
      if (events.length === count) stop.abort();
    }
    return events;
  };
  const lastEventIds = () => server.received.map(({ headers }) => headers['last-event-id']);

  it('reads events, however they are cut into pieces', async () => {
    const text = `retry: 1000\nid: 0\n\n: comment\n\n${event('1', 'Grüße 👋')}${event('2', 'two').replace(/\n/g, '\r\n')}`;
    server.url('/events', (response) => {
      open(response);
      for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
    });
    expect(await collect(2)).toEqual([
      { id: '1', type: 'message.queued', message: { message: 'Grüße 👋' } },
      { id: '2', type: 'message.queued', message: { message: 'two' } },
    ]);
  });

  it.each([
    ['a page', 200, { 'content-type': 'text/html' }, '<p>Sign in</p>'],
    ['JSON', 200, { 'content-type': 'application/json' }, '{}'],
    ['no type', 200, {}, 'data: {}\n\n'],
    ['nothing', 200, {}, ''],
    ['no content', 204, {}, ''],
    ['a type that begins like it', 200, { 'content-type': 'text/event-streams' }, ''],
  ])('fails for %s instead of a stream', async (_what, status, headers, body) => {
    server.url('/events', (response) => response.writeHead(status, headers).end(body));
    const onConnect = jest.fn();
    await expect(collect(1, { onConnect })).rejects.toMatchObject({ code: 'unexpected_response', status });
    expect(onConnect).not.toHaveBeenCalled();
  });

  it('closes the connection of what is no stream', async () => {
    const closed = new Promise((resolve) => {
      server.url('/events', (response) => response.on('close', resolve).writeHead(200).write('a page without end'));
    });
    await expect(collect(1)).rejects.toMatchObject({ code: 'unexpected_response' });
    await closed;
  });

  it('goes on after the last id that fits into a header', async () => {
    server.url('/events', (response, _received, n) => {
      open(response, event(n === 1 ? '1' : '2', 'one'));
      if (n === 1) response.end(event('世', 'two'));
    });
    expect(await collect(3)).toMatchObject([{ id: '1' }, { id: '1' }, { id: '2' }]);
    expect(lastEventIds()).toEqual([undefined, '1']);
  });

  it.each([
    ['U+2028', '\u2028'],
    ['U+2029', '\u2029'],
    ['U+0085', '\u0085'],
    ['a colon', ': data: x'],
  ])('takes %s for a part of a line', async (_, text) => {
    server.url('/events', (response) => {
      open(response, event('1', `one${text}two`));
    });
    expect(await collect(1)).toMatchObject([{ id: '1', message: { message: `one${text}two` } }]);
  });

  it.each([
    ['\\n', '\n'],
    ['\\r', '\r'],
    ['\\r\\n', '\r\n'],
  ])('reads lines that end with %s, also if that is cut, and data of several lines', async (_, end) => {
    server.url('/events', (response) => {
      open(response);
      const lines = ['id:1', 'event', 'event: message.queued', 'data: {', 'data:"message":"one"}', '', ''];
      for (const byte of Buffer.from(lines.join(end))) response.write(Buffer.of(byte));
    });
    expect(await collect(1)).toEqual([{ id: '1', type: 'message.queued', message: { message: 'one' } }]);
  });

  it.each([
    ['a line', 'data: x', 'x'],
    ['lines', 'data: x\n', 'data: x\n'],
    ['a name', '', 'x'],
    ['positions', 'id: 1\n', 'id: 1\n'],
  ])('goes on after %s without an end, and tells of it', async (_, start, part) => {
    const more = part.repeat(65_536 / part.length);
    const errors: unknown[] = [];
    server.url('/events', (response) => {
      if (server.received.length > 1) {
        open(response, event('1', 'one'));
        return;
      }
      open(response, start);
      const write = () => {
        while (!response.destroyed && response.write(more));
      };
      response.on('drain', write);
      write();
    });
    expect(await collect(1, { onDisconnect: (error) => errors.push(error) })).toMatchObject([{ id: '1' }]);
    expect(errors).toEqual([expect.objectContaining({ code: 'unexpected_response' })]);
  });

  it.each(['{"mess', '[1]', '"text"', 'null', '17', '{}'])(
    'goes on after an event of %s, and tells of it',
    async (data) => {
      server.url('/events', (response, { headers }) => {
        if (headers['last-event-id'] === '1') open(response, event('2', 'two'));
        else open(response, `event: message.queued\nid: 1\ndata: ${data}\n\n`);
      });
      const errors: (SluiceError | null)[] = [];
      const events = await collect(1, { onDisconnect: (error) => errors.push(error) });
      expect(events.map(({ id }) => id)).toEqual(['2']);
      expect(errors).toMatchObject([{ code: 'unexpected_response', status: 200 }]);
    },
  );

  it('goes on after the last event when the connection is lost', async () => {
    server.url('/events', (response, _, n) => {
      if (n === 1) open(response, 'id: 0\n\n');
      if (n === 2) open(response, event('1', 'one'), 'event: message.queued\nid: 2\nda');
      if (n === 3) response.writeHead(503).end();
      if (n === 4) response.writeHead(409).end('{"code":"too_many_streams","detail":"Too many."}');
      if (n === 5) open(response, event('2', 'two'));
      else setTimeout(() => response.destroy(), 500);
    });
    const errors: (SluiceError | null)[] = [];
    let connected = 0;
    const events = await collect(2, {
      onConnect: () => connected++,
      onDisconnect: (error) => errors.push(error),
    });
    expect(events.map(({ id }) => id)).toEqual(['1', '2']);
    expect(lastEventIds()).toEqual([undefined, '0', '1', '1', '1']);
    expect(errors.map((error) => error?.status ?? null)).toEqual([null, null, 503, 409]);
    expect(connected).toBe(3);
  });

  it('begins where it is told', async () => {
    server.url('/events', (response) => {
      open(response, event('8', 'eight'));
    });
    await collect(1, { lastEventId: '7' });
    expect(lastEventIds()).toEqual(['7']);
  });

  it('notices that a connection is dead', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    server.url('/events', (response, _, n) => {
      open(response, n === 1 ? 'id: 0\n\n' : event('1', 'one'));
    });
    const collecting = collect(1);
    while (server.received.length < 2) {
      // Between two steps, sockets are served.
      await new Promise((resolve) => setImmediate(resolve));
      jest.advanceTimersByTime(100);
    }
    jest.useRealTimers();
    expect(await collecting).toHaveLength(1);
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
  ])('fails if it is refused for good: %i', async (status, code) => {
    server.url('/events', (response, _, n) => {
      if (n > 1) response.writeHead(status).end(JSON.stringify({ code, detail: 'No.' }));
      else {
        open(response, 'id: 0\n\n');
        setTimeout(() => response.destroy(), 500);
      }
    });
    await expect(collect(1)).rejects.toThrow(expect.objectContaining({ code }) as Error);
  });

  it('fails like any call if it cannot connect at all', async () => {
    server.url('/events', 503);
    await expect(collect(1)).rejects.toThrow(expect.objectContaining({ status: 503 }) as Error);
  });

  it('closes its connection when its loop is left, and when it is aborted', async () => {
    let closed = 0;
    server.url('/events', (response) => {
      response.on('close', () => closed++);
      open(response, event('1', 'one'));
    });
    for await (const { id } of client().events()) if (id === '1') break;
    await collect(1);
    await until(() => closed === 2);
  });

  it('yields no event of the same piece once it is aborted', async () => {
    server.url('/events', (response) => {
      open(response, ['1', '2', '3'].map((id) => event(id, id)).join(''));
    });
    expect(await collect(1)).toMatchObject([{ id: '1' }]);
  });

  describe('of the API', () => {
    const api = sharedApi();
    const account = accountForEach(api);

    it('misses nothing while it was away', async () => {
      const sluice = new Sluice({ apiKey: account.key, baseUrl: api.url });
      const onConnect = () => void sluice.messages.send('one');
      const [first] = await collect(1, { onConnect }, sluice);
      await sluice.messages.send('two');
      stop = new AbortController();
      const [second] = await collect(1, { lastEventId: first?.id }, sluice);
      expect([first?.message.message, second?.message.message]).toEqual(['one', 'two']);
    });
  });
});
