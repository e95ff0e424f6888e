import { setImmediate as loopIteration } from 'node:timers/promises';
import { InMemoryJobQueue } from '../../../test/contracts/fakes/in-memory-job-queue.js';
import { InMemoryOutbox } from '../../../test/contracts/fakes/in-memory-outbox.js';
import { InMemoryStore } from '../../../test/contracts/fakes/in-memory-store.js';
import { observing } from '../../../test/contracts/fakes/relay-observer.js';
import { aMessage, anUnstorable, messages, textOf, unavailable } from '../../../test/support/messages.js';
import type { Message } from '#messages/domain/message.js';
import { OutboxRelay, type RelayFault } from './outbox-relay.js';

const MEBIBYTE = 1_048_576;

/** Lets a relay gather for as long as it may, and no timer end that comes after. */
const gathering = () => jest.advanceTimersByTimeAsync(100);

/** One process: a relay with its queue on a store in memory. Time passes with the fake timers. */
function relaying() {
  const store = new InMemoryStore();
  const outbox = new InMemoryOutbox(store);
  const queue = new InMemoryJobQueue();
  const reports: RelayFault[] = [];
  const relay = new OutboxRelay(outbox, queue, observing(reports));
  /** Stores messages in one commit and hands the entry to the relay. */
  const send = (...sent: Message[]) => {
    const entry = store.commit(sent);
    relay.enqueue(entry);
    return entry.id;
  };
  return { store, outbox, queue, reports, relay, send };
}

describe('OutboxRelay', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] }));
  afterEach(() => jest.useRealTimers());

  it('relays an entry at once, and everything that arrives meanwhile in one call', async () => {
    const { queue, send } = relaying();
    const release = queue.hold();
    send(...messages(1));
    send(...messages(2));
    send(...messages(3));
    release();
    await gathering();
    expect(queue.calls).toEqual([1, 5]);
    expect(queue.jobs.size).toBe(6);
  });

  it('removes relayed entries within a second, together', async () => {
    const { store, outbox, send } = relaying();
    const remove = jest.spyOn(outbox, 'remove');
    const ids = [send(aMessage()), send(aMessage())];
    await gathering();
    expect(store.entries.size).toBe(2);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(store.entries.size).toBe(0);
    expect(remove.mock.calls).toEqual([[ids]]);
  });

  it('reports that it cannot remove relayed entries, and leaves them to the sweeper', async () => {
    const { store, outbox, queue, reports, relay, send } = relaying();
    jest.spyOn(outbox, 'remove').mockRejectedValueOnce(unavailable());
    send(aMessage());
    await loopIteration();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(reports).toEqual(['cleanup_failed']);
    await relay.sweep(0);
    expect(store.entries.size).toBe(0);
    expect(queue.jobs.size).toBe(1);
  });

  it('bounds a call in messages and in bytes', async () => {
    const { queue, send } = relaying();
    const release = queue.hold();
    send(aMessage());
    for (let entry = 0; entry < 4; entry++) send(...messages(400));
    for (let entry = 0; entry < 5; entry++) send(aMessage({ text: textOf() }));
    release();
    await gathering();
    // Two entries of 400 fit, three would be more than 1,000; three of 256 KiB fit, four would be more than 1 MiB.
    expect(queue.calls).toEqual([1, 800, 800 + 3, 2]);
    await gathering();
    send(...messages(2_200));
    await loopIteration();
    expect(queue.calls.slice(4)).toEqual([1_000, 1_000, 200]);
  });

  it('waits for more between two calls, 10 ms, and not for what fills a call', async () => {
    const { queue, send } = relaying();
    send(...messages(10));
    await jest.advanceTimersByTimeAsync(9);
    send(aMessage());
    await loopIteration();
    expect(queue.calls).toEqual([10]);
    await jest.advanceTimersByTimeAsync(1);
    expect(queue.calls).toEqual([10, 1]);

    await jest.advanceTimersByTimeAsync(100);
    const release = queue.hold();
    send(...messages(900));
    send(...messages(600));
    send(...messages(500));
    release();
    await jest.advanceTimersByTimeAsync(0);
    expect(queue.calls).toEqual([10, 1, 900, 600]);
    await jest.advanceTimersByTimeAsync(9);
    expect(queue.calls).toHaveLength(4);
    await jest.advanceTimersByTimeAsync(1);
    expect(queue.calls).toEqual([10, 1, 900, 600, 500]);
  });

  it('does not wait for more with an entry that somebody waits for, who is told when its jobs are there', async () => {
    const { store, queue, relay, send } = relaying();
    const jobs: number[] = [];
    const waitFor = (...sent: Message[]) => {
      relay.enqueue(store.commit(sent), () => jobs.push(queue.jobs.size));
    };
    send(aMessage());
    await jest.advanceTimersByTimeAsync(1);
    send(aMessage());
    waitFor(aMessage());
    await loopIteration();
    expect([queue.calls, jobs]).toEqual([[1, 2], [3]]);

    const release = queue.hold();
    send(aMessage());
    await jest.advanceTimersByTimeAsync(10);
    waitFor(aMessage());
    release();
    await loopIteration();
    expect([queue.calls, jobs]).toEqual([
      [1, 2, 1, 1],
      [3, 5],
    ]);
    queue.away = true;
    waitFor(aMessage());
    await loopIteration();
    expect(jobs).toEqual([3, 5, 5]);
  });

  it('keeps at most 16 MiB in memory; what is beyond stays in the outbox for the sweeper', async () => {
    const { store, queue, relay, send } = relaying();
    const release = queue.hold();
    send(aMessage());
    for (let entry = 0; entry < 48; entry++) send(...messages(4, { text: textOf() }));
    release();
    await gathering();
    await relay.close();
    const relayed = queue.jobs.size - 1;
    expect(relayed * textOf().length).toBeLessThanOrEqual(16 * MEBIBYTE);
    expect(relayed * textOf().length).toBeGreaterThan(14 * MEBIBYTE);
    expect(store.entries.size).toBe(48 - relayed / 4);
  });

  it('accepts new entries again when what waited has left the memory', async () => {
    const { queue, send } = relaying();
    for (let round = 0; round < 3; round++) {
      for (let entry = 0; entry < 15; entry++) send(...messages(4, { text: textOf() }));
      await gathering();
    }
    expect(queue.jobs.size).toBe(3 * 15 * 4);
  });

  it('postpones a job that the queue refuses by a minute, and adds all others', async () => {
    const { store, queue, reports, relay, send } = relaying();
    const bad = anUnstorable();
    const [good, neighbours] = [messages(300), messages(99)];
    const release = queue.hold();
    send(aMessage());
    send(...good);
    send(bad, ...neighbours);
    release();
    await gathering();
    expect(reports).toEqual(['job_refused']);
    expect(queue.jobs.size).toBe(1 + 300 + 99);
    expect(queue.calls.length).toBeLessThan(25);
    await relay.close();
    const due = new Date(store.clock.now().getTime() + 60_000);
    expect([...store.entries.values()]).toMatchObject([{ id: '3', messageIds: [bad.id], dueAt: due }]);
  });

  it('does not bisect a batch because the queue is away', async () => {
    const { store, queue, reports, relay, send } = relaying();
    queue.away = true;
    send(...messages(100));
    await loopIteration();
    expect(queue.calls).toEqual([100]);
    expect(reports).toEqual(['relay_failed']);
    queue.away = false;
    await relay.sweep(0);
    expect(queue.jobs.size).toBe(100);
    expect(store.entries.size).toBe(0);
  });

  it('sweeps what others left behind after two seconds', async () => {
    const { store, queue, relay } = relaying();
    store.commit(messages(3));
    relay.startSweeping();
    store.clock.advance(1_900);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(queue.jobs.size).toBe(0);
    store.clock.advance(100);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(queue.jobs.size).toBe(3);
    expect(store.entries.size).toBe(0);
    await relay.close();
  });

  it('reports a failed sweep, and sweeps again', async () => {
    const { store, queue, reports, relay } = relaying();
    store.commit(messages(3));
    store.clock.advance(10_000);
    queue.away = true;
    relay.startSweeping();
    await jest.advanceTimersByTimeAsync(250);
    expect(reports).toEqual(['sweep_failed']);
    queue.away = false;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(queue.jobs.size).toBe(3);
    await relay.close();
  });

  it('sweeps everything, in calls of at most 1,000 messages, and postpones what is refused', async () => {
    const { store, queue, relay } = relaying();
    const bad = anUnstorable();
    store.commit([bad, ...messages(2_100)]);
    for (let entry = 0; entry < 9; entry++) store.commit(messages(4, { text: textOf() }));
    await relay.sweep(0);
    expect(queue.jobs.size).toBe(2_100 + 9 * 4);
    expect(Math.max(...queue.calls)).toBe(1_000);
    expect([...store.entries.values()].map(({ messageIds }) => messageIds)).toEqual([[bad.id]]);
  });

  it('relays what waits and removes what was relayed before it closes, and sweeps no more', async () => {
    const { store, queue, relay, send } = relaying();
    relay.startSweeping();
    const release = queue.hold();
    for (let entry = 0; entry < 5; entry++) send(...messages(200));
    const closed = relay.close();
    release();
    await closed;
    expect(queue.jobs.size).toBe(1_000);
    expect(store.entries.size).toBe(0);
    store.commit(messages(1));
    store.clock.advance(10_000);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(store.entries.size).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('waits for a removal that is under way before it closes', async () => {
    const { outbox, relay, send } = relaying();
    let finish: () => void = () => undefined;
    jest.spyOn(outbox, 'remove').mockReturnValueOnce(new Promise((resolve) => (finish = resolve)));
    send(aMessage());
    await jest.advanceTimersByTimeAsync(1_000);
    let closed = false;
    const closing = relay.close().then(() => (closed = true));
    await loopIteration();
    expect(closed).toBe(false);
    finish();
    await closing;
  });
});
