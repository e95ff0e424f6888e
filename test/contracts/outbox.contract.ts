import type { Outbox } from '#delivery/application/outbox.js';
import type { Message } from '#messages/domain/message.js';
import { aClaim, aMessage, messages, textOf, TRACEPARENT } from '../support/messages.js';

const MEBIBYTE = 1_048_576;

export interface OutboxSubject {
  /** Two processes on the same store. */
  readonly outbox: Outbox;
  readonly other: Outbox;
  /** Stores messages with one entry; resolves to its id. */
  commit(...messages: Message[]): Promise<string>;
  /** Stores messages with one entry that is the sweeper's, due in so many milliseconds. */
  commitForSweeper(dueInMs: number, ...messages: Message[]): Promise<string>;
  /** Ids of the entries, oldest first, each with the ids of its messages. */
  entries(): Promise<[string, string[]][]>;
  /** Lets time pass for all entries. */
  pass(ms: number): Promise<void>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** A relay that records what it is given and refuses some of it. */
function relaying(...refused: Message[]) {
  const relayed: Message[][] = [];
  const relay = (given: readonly Message[]) => {
    relayed.push([...given]);
    return Promise.resolve(new Set(refused.map(({ id }) => id)));
  };
  return { relay, relayed };
}

const idsOf = (some: readonly Message[]) => some.map(({ id }) => id);
const sorted = (some: readonly Message[]) => idsOf(some).sort();

/** What every outbox guarantees. */
export function describeOutbox(name: string, open: () => Promise<OutboxSubject>): void {
  describe(name, () => {
    let subject: OutboxSubject;
    beforeAll(async () => {
      subject = await open();
    });
    beforeEach(() => subject.reset());
    afterAll(() => subject.close());

    it('removes entries, and ignores those that are gone', async () => {
      const [one, other] = [await subject.commit(aMessage()), await subject.commit(aMessage())];
      await subject.outbox.remove([one, other]);
      await subject.outbox.remove([other, one]);
      await subject.other.remove([]);
      expect(await subject.entries()).toEqual([]);
    });

    it('passes what is due to the relay, as it is stored, and removes it', async () => {
      const [one, two] = [messages(3), messages(2, { traceparent: TRACEPARENT })];
      await subject.commit(...one);
      await subject.commit(...two);
      const { relay, relayed } = relaying();
      expect(await subject.outbox.sweep(0, relay)).toBe(2);
      const byId = new Map(relayed.flat().map((message) => [message.id, message]));
      expect([...one, ...two].map(({ id }) => byId.get(id))).toEqual([...one, ...two]);
      expect(await subject.entries()).toEqual([]);
      expect(await subject.outbox.sweep(0, relay)).toBe(0);
    });

    it('leaves young entries to the process that stored them', async () => {
      const old = aMessage();
      await subject.commit(old);
      await subject.pass(60_000);
      const young = await subject.commit(aMessage());
      const { relay, relayed } = relaying();
      expect(await subject.outbox.sweep(30_000, relay)).toBe(1);
      expect(relayed.map(idsOf)).toEqual([[old.id]]);
      expect((await subject.entries()).map(([id]) => id)).toEqual([young]);
    });

    it('passes what is for a sweeper as soon as it is due, and not earlier', async () => {
      const [early, late] = messages(2) as [Message, Message];
      await subject.commitForSweeper(60_000, early);
      const other = await subject.commitForSweeper(120_000, late);
      const { relay, relayed } = relaying();
      await subject.pass(59_000);
      expect(await subject.outbox.sweep(30_000, relay)).toBe(0);
      await subject.pass(1_000);
      expect(await subject.outbox.sweep(30_000, relay)).toBe(1);
      expect(relayed.map(idsOf)).toEqual([[early.id]]);
      expect((await subject.entries()).map(([id]) => id)).toEqual([other]);
    });

    it('relays what is open, as it now is, and drops what is final', async () => {
      const begun = aMessage({ status: 'processing', claim: aClaim() });
      const retried = aMessage({ retries: 2 });
      const closed = (['delivered', 'failed', 'cancelled'] as const).map((status) => aMessage({ status }));
      await subject.commit(begun, ...closed, retried);
      await subject.commit(aMessage({ status: 'delivered' }));
      const { relay, relayed } = relaying();
      expect(await subject.outbox.sweep(0, relay)).toBe(2);
      const jobIds = relayed.flat().map(({ jobId }) => jobId);
      expect(jobIds.sort()).toEqual([begun.id, `${retried.id}.2`].sort());
      expect(await subject.entries()).toEqual([]);
    });

    it('keeps only what was refused, for a minute', async () => {
      const [good, bad, neighbour] = messages(3) as [Message, Message, Message];
      const entry = await subject.commit(good, bad);
      await subject.commit(neighbour);
      const refusing = relaying(bad);
      expect(await subject.outbox.sweep(0, refusing.relay)).toBe(2);
      expect(await subject.entries()).toEqual([[entry, [bad.id]]]);
      expect(await subject.outbox.sweep(0, refusing.relay)).toBe(0);
      await subject.pass(59_000);
      expect(await subject.outbox.sweep(0, refusing.relay)).toBe(0);
      await subject.pass(1_000);
      const { relay, relayed } = relaying();
      expect(await subject.other.sweep(0, relay)).toBe(1);
      expect(relayed.map(idsOf)).toEqual([[bad.id]]);
    });

    it('postpones messages of an entry, and drops the others', async () => {
      const [good, bad] = messages(2) as [Message, Message];
      const entry = await subject.commit(good, bad);
      await subject.outbox.postpone(entry, [bad.id]);
      await subject.outbox.postpone(String(Number(entry) + 1), [good.id]);
      expect(await subject.entries()).toEqual([[entry, [bad.id]]]);
      const { relay, relayed } = relaying();
      expect(await subject.outbox.sweep(0, relay)).toBe(0);
      await subject.pass(60_000);
      expect(await subject.outbox.sweep(0, relay)).toBe(1);
      expect(relayed.map(idsOf)).toEqual([[bad.id]]);
    });

    it('passes at most 1 MiB at once, the oldest first, but one entry at least', async () => {
      const large = Array.from({ length: 6 }, () => messages(1, { text: textOf() }));
      const huge = messages(5, { text: textOf() });
      for (const entry of [...large, huge]) await subject.commit(...entry);
      const { relay, relayed } = relaying();
      const swept: number[] = [];
      do swept.push(await subject.outbox.sweep(0, relay));
      while (swept.at(-1) !== 0);
      // Four of 256 KiB are a little more than 1 MiB.
      expect(swept).toEqual([3, 3, 1, 0]);
      expect(relayed.map((given) => given.length)).toEqual([3, 3, 5]);
      expect(relayed.map(sorted)).toEqual([large.slice(0, 3).flat(), large.slice(3).flat(), huge].map(sorted));
      const bytes = (given: Message[]) => given.reduce((sum, { state }) => sum + state.text.length, 0);
      expect(Math.max(...relayed.slice(0, 2).map(bytes))).toBeLessThanOrEqual(MEBIBYTE);
    });

    it('lets one process sweep at a time, and the next one when that has ended', async () => {
      await subject.commit(aMessage());
      const { relay, relayed } = relaying();
      const swept = await subject.outbox.sweep(0, async (given) => {
        expect(await subject.other.sweep(0, relay)).toBe(0);
        expect(given).toHaveLength(1);
        return new Set();
      });
      expect(swept).toBe(1);
      expect(relayed).toEqual([]);
      await subject.commit(aMessage());
      expect(await subject.other.sweep(0, relay)).toBe(1);
    });

    it('keeps everything when the relay fails, and lets the next one try', async () => {
      const message = aMessage();
      await subject.commit(message);
      const failing = () => Promise.reject(new Error('The queue is away.'));
      await expect(subject.outbox.sweep(0, failing)).rejects.toThrow('The queue is away.');
      const { relay, relayed } = relaying();
      expect(await subject.other.sweep(0, relay)).toBe(1);
      expect(relayed.map(idsOf)).toEqual([[message.id]]);
    });
  });
}
