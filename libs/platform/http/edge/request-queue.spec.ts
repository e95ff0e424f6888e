import { EventEmitter } from 'node:events';
import { RequestQueue } from './request-queue.js';

describe('RequestQueue', () => {
  const nextIteration = () => new Promise((resolve) => setImmediate(resolve));
  let server: EventEmitter;
  let queue: RequestQueue;
  let client: EventEmitter;
  let started: number[];
  const run = (from: number, to: number, caller = '') => {
    for (let n = from; n < to; n++) queue.run(caller, client, () => started.push(n));
  };
  beforeEach(() => {
    server = new EventEmitter();
    queue = new RequestQueue(server);
    client = new EventEmitter().setMaxListeners(0);
    started = [];
  });

  it('starts all requests at once while no connection is accepted', () => {
    run(0, 100);
    expect(started).toHaveLength(100);
  });

  it('starts few requests in each iteration while connections are accepted, in order, and then the rest', async () => {
    server.emit('connection');
    run(0, 100);
    const counts = [started.length];
    for (let iteration = 0; iteration < 4; iteration++) {
      if (iteration < 3) server.emit('connection');
      await nextIteration();
      counts.push(started.length);
    }
    await nextIteration();
    run(100, 110);
    expect(counts).toEqual([2, 4, 6, 8, 100]);
    expect(started).toEqual(Array.from({ length: 110 }, (_, n) => n));
  });

  it('lets callers take turns', async () => {
    server.emit('connection');
    run(0, 100);
    run(100, 103, 'another');
    await nextIteration();
    await nextIteration();
    expect(started).toEqual([0, 1, 2, 100, 3, 101, 4, 102, ...Array.from({ length: 95 }, (_, n) => n + 5)]);
  });

  it('starts the rest in parts, so that many do not block the event loop', async () => {
    server.emit('connection');
    run(0, 250);
    const counts: number[] = [];
    for (let iteration = 0; iteration < 4; iteration++) {
      await nextIteration();
      counts.push(started.length);
    }
    expect(counts).toEqual([4, 104, 204, 250]);
  });

  it('drops requests of a client that has gone', async () => {
    server.emit('connection');
    run(0, 10);
    client.emit('close');
    client = new EventEmitter();
    run(10, 11);
    await nextIteration();
    expect(started).toEqual([0, 1, 10]);
  });

  it('leaves slots for requests that arrive after the waiting ones', async () => {
    server.emit('connection');
    run(0, 3);
    await nextIteration();
    run(3, 20);
    expect(started).toHaveLength(4);
  });
});
