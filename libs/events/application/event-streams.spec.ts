import { setTimeout as sleep } from 'node:timers/promises';
import { aMessage } from '../../../test/support/messages.js';
import { Activity } from '#kernel/activity.js';
import type { EventLog, EventPage, MessageEvent } from './event-log.js';
import { EventStreams, type EventSink } from './event-streams.js';

const END = 10n;
const position = (until: bigint) => ({ from: until, until, id: 0n });

const ignore = () => undefined;

const eventOf = (id: string): MessageEvent => ({
  position: { from: END, until: 20n, id: 1n },
  message: aMessage({ id, accountId: id, text: 'x', createdAt: new Date(0) }),
});

/** What a client has got. */
class Client implements EventSink {
  readonly waitingBytes = 0;
  readonly got: string[] = [];
  readonly begin = ignore;
  readonly heartbeat = ignore;
  readonly end = ignore;
  readonly cut = ignore;
  drained = () => Promise.resolve();
  send(events: readonly MessageEvent[]): void {
    this.got.push(...events.map(({ message }) => message.id));
  }
}

it('A place is left when its stream cannot be opened', async () => {
  const left: unknown[] = [];
  const place = { accountId: 'a', number: 1, token: 'a' };
  const log = { end: () => Promise.reject(new Error('The store is away.')) };
  const places = {
    take: () => Promise.resolve(place),
    renew: () => Promise.resolve(new Set<string>()),
    leave: (one: unknown) => Promise.resolve(void left.push(one)),
  };
  const streams = new EventStreams(log as unknown as EventLog, places, {
    watchStreams: ignore,
    sent: ignore,
    cut: ignore,
  });
  await expect(streams.open('a', null, new Client(), () => Promise.resolve(true))).rejects.toThrow('away');
  expect(left).toEqual([place]);
});

it('A stream begins at the end of the log, which is read after its place was taken', async () => {
  const steps: string[] = [];
  const log = { end: () => Promise.resolve(BigInt(steps.push('end'))) };
  const places = {
    take: async (accountId: string) => {
      await sleep(5);
      steps.push('place');
      return { accountId, number: 1, token: 'a' };
    },
    renew: () => Promise.resolve(new Set<string>()),
    leave: () => Promise.resolve(),
  };
  const streams = new EventStreams(log as unknown as EventLog, places, {
    watchStreams: ignore,
    sent: ignore,
    cut: ignore,
  });
  await streams.open('a', null, new Client(), () => Promise.resolve(true));
  expect(steps).toEqual(['place', 'end']);
  streams.closeAll();
  await streams.stop();
});

it('A stream gets nothing of what ends the quiet if its key has expired meanwhile', async () => {
  jest.useFakeTimers();
  const activity = new Activity();
  const [client, other] = [new Client(), new Client()];
  let isExpired = false;
  const log: Pick<EventLog, 'end' | 'readNew'> = {
    end: () => Promise.resolve(END),
    readNew: (accountIds, from) => {
      const pages = accountIds.map((id): [string, EventPage] => [
        id,
        { events: activity.isQuiet ? [] : [eventOf(id)], next: null },
      ]);
      return Promise.resolve({ until: from + 1n, pages: new Map(isExpired ? pages : []) });
    },
  };
  const places = {
    take: (accountId: string) => Promise.resolve({ accountId, number: 1, token: accountId }),
    renew: () => Promise.resolve(new Set('ab')),
    leave: () => Promise.resolve(),
  };
  const observer = { watchStreams: ignore, sent: ignore, cut: ignore };
  const streams = new EventStreams(log as EventLog, places, observer, activity);
  try {
    await streams.open('a', null, client, () => Promise.resolve(!isExpired));
    await streams.open('b', null, other, () => Promise.resolve(true));
    await jest.advanceTimersByTimeAsync(12_000);
    expect(activity.isQuiet).toBe(true);
    isExpired = true;
    activity.noteOthers();
    await jest.advanceTimersByTimeAsync(1_000);
    expect([client.got, other.got.length > 0]).toEqual([[], true]);
  } finally {
    streams.closeAll();
    await streams.stop();
    jest.useRealTimers();
  }
});

describe('A stream that is up to date while what is new is being read', () => {
  /** The part from 10 to 20 has an event of each account. */
  const page = (accountId: string): EventPage => ({ events: [eventOf(accountId)], next: null });
  let streams: EventStreams;
  let asked: string[][];
  let answer: ((fails: boolean) => void) | null;
  const clients = { a: new Client(), b: new Client() };

  beforeEach(() => {
    asked = [];
    answer = null;
    clients.a = new Client();
    clients.b = new Client();
    const log: Pick<EventLog, 'end' | 'readNew' | 'read'> = {
      end: () => Promise.resolve(END),
      readNew: (accountIds, from) => {
        asked.push([...accountIds]);
        return new Promise((resolve, reject) => {
          answer = (fails) => {
            const pages = new Map(from === END ? accountIds.map((id) => [id, page(id)]) : []);
            if (fails) reject(new Error('The store is away.'));
            else resolve({ until: from === END ? 20n : from, pages });
          };
        });
      },
      read: (accountId) => Promise.resolve(page(accountId)),
    };
    const places = {
      take: (accountId: string) => Promise.resolve({ accountId, number: 1, token: accountId }),
      renew: () => Promise.resolve(new Set('ab')),
      leave: () => Promise.resolve(),
    };
    streams = new EventStreams(log as EventLog, places, { watchStreams: ignore, sent: ignore, cut: ignore });
  });
  afterEach(async () => {
    streams.closeAll();
    const stopped = streams.stop();
    answer?.(false);
    await stopped;
  });

  const reads = async (count: number) => {
    while (asked.length < count) await sleep(1);
  };
  const open = (name: 'a' | 'b') => streams.open(name, position(END), clients[name], () => Promise.resolve(true));

  it.each([
    ['gets what was read without it', false],
    ['gets it with the others when it is read again after a failure', true],
  ])('%s, once', async (_what, fails) => {
    await open('a');
    await reads(1);
    await open('b');
    await sleep(10);
    expect(asked).toEqual([['a']]);
    answer?.(fails);
    await reads(2);
    if (fails) expect(asked[1]?.sort()).toEqual(['a', 'b']);
    answer?.(false);
    while (clients.b.got.length === 0) await sleep(1);
    await reads(3);
    expect([clients.a.got, clients.b.got]).toEqual([['a'], ['b']]);
  });
});
