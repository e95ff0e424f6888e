import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Job } from '#messages/application/delivering/deliveries.js';
import type { DeliveryQueue } from '#delivery/application/delivery-queue.js';
import type { Message } from '#messages/domain/message.js';
import { anyText } from '../support/any-text.js';
import { describeUnless } from '../support/skipping.js';
import { after, aMessage, anUnstorable, jobOf, messages, textOf } from '../support/messages.js';

export interface DeliveryQueueSubject {
  /** Two processes with the same queue. */
  readonly queue: DeliveryQueue;
  readonly other: DeliveryQueue;
  /** A process that can't reach it. */
  readonly cutOff: DeliveryQueue;
  /** What workers get to see, by the ids of the jobs. */
  jobs(): Promise<Map<string, Job>>;
  /** Lets a worker take the next job; resolves to its id, or to null when none waits. */
  take(): Promise<string | null>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What every queue guarantees.
 * @param shards the queues among which messages are divided, each with its own turns
 * @param refusing whether there are messages for which it can't add a job
 */
export function describeDeliveryQueue(
  name: string,
  open: () => Promise<DeliveryQueueSubject>,
  { refusing = true, missing = null as string | null, shards = 1 } = {},
): void {
  describeUnless(missing)(name, () => {
    let subject: DeliveryQueueSubject;
    beforeAll(async () => {
      subject = await open();
    });
    beforeEach(() => subject.reset());
    afterAll(() => subject.close());

    it('carries everything that a worker needs, byte for byte', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 30 }), async (texts) => {
          const sent = texts.map((text) => aMessage({ text }));
          await subject.queue.add(sent);
          const jobs = await subject.jobs();
          expect(sent.map(({ jobId }) => jobs.get(jobId))).toEqual(sent.map(jobOf));
        }),
        { numRuns: 10 },
      );
    });

    it('adds many jobs, and large ones, at once; and none', async () => {
      await subject.queue.add(messages(500));
      await subject.queue.add(messages(16, { text: textOf() }));
      await subject.queue.add([]);
      expect((await subject.jobs()).size).toBe(516);
    });

    if (refusing)
      it('adds none of a batch of which one can not be added', async () => {
        const bad = anUnstorable();
        const added = subject.queue.add([...messages(5), bad, ...messages(5)]);
        await expect(added).rejects.not.toMatchObject({ code: 'unavailable' });
        expect((await subject.jobs()).size).toBe(0);
      });

    it('leaves one job of what is added twice', async () => {
      const [some, more] = [messages(5), messages(5)];
      await subject.queue.add(some);
      await subject.other.add([...some, ...more, ...more]);
      expect([...(await subject.jobs()).keys()].sort()).toEqual([...some, ...more].map(({ id }) => id).sort());
    });

    it('lets two processes add the same jobs at once in opposite order', async () => {
      for (let round = 0; round < 8; round++) {
        const all = messages(300);
        await Promise.all([subject.queue.add(all), subject.other.add([...all].reverse())]);
      }
      expect((await subject.jobs()).size).toBe(8 * 300);
    });

    it('leaves a job as it is that a worker has', async () => {
      const message = aMessage();
      await subject.queue.add([message]);
      expect(await subject.take()).toBe(message.id);
      await subject.queue.add([message]);
      expect(await subject.take()).toBeNull();
      expect((await subject.jobs()).size).toBe(1);
    });

    it('has a job of its own for each retry', async () => {
      const message = aMessage({ status: 'failed' });
      const retried = message.retry(after(1));
      await subject.queue.add([message]);
      await subject.queue.add([retried]);
      const jobs = await subject.jobs();
      expect(jobs.get(message.id)).toEqual(jobOf(message));
      expect(jobs.get(`${message.id}.1`)).toEqual(jobOf(retried));
    });

    it('lets an account with little pass one with a backlog, through another process and all the way', async () => {
      const backlog = messages(1_000, { accountId: 'acct_of_many' });
      for (let start = 0; start < 1_000; start += 250) await subject.queue.add(backlog.slice(start, start + 250));
      const little = [aMessage({ accountId: 'acct_of_few' }), aMessage({ accountId: 'acct_of_few' })];
      /** How many jobs are taken before the one of this message. */
      const before = async ({ id }: Message) => {
        for (let count = 0; ; count++) if ((await subject.take()) === id) return count;
      };
      for (const message of little) {
        await sleep(300);
        await subject.other.add([message]);
        expect(await before(message)).toBeLessThanOrEqual(100 * shards);
        for (let taken = 0; taken < 200; taken++) await subject.take();
      }
    });

    it('lets workers take every job of a backlog', async () => {
      await subject.queue.add(messages(300, { accountId: 'acct_of_many' }));
      await subject.other.add(messages(300, { accountId: 'acct_of_others' }));
      const taken = new Set<string | null>();
      for (let count = 0; count < 600; count++) taken.add(await subject.take());
      expect(taken.size).toBe(600);
      expect(taken.has(null)).toBe(false);
    });

    it('removes a job, and ignores one that is gone', async () => {
      const [one, other] = [aMessage(), aMessage()];
      await subject.queue.add([one, other]);
      await subject.other.remove(one.jobId);
      await subject.queue.remove(one.jobId);
      expect([...(await subject.jobs()).keys()]).toEqual([other.id]);
    });

    it('silently keeps a job that a worker has', async () => {
      const message = aMessage();
      await subject.queue.add([message]);
      await subject.take();
      await subject.queue.remove(message.jobId);
      expect([...(await subject.jobs()).keys()]).toEqual([message.id]);
    });

    it('is unavailable when it cannot be reached', async () => {
      await expect(subject.cutOff.add([aMessage()])).rejects.toMatchObject({ code: 'unavailable' });
      await expect(subject.cutOff.remove(aMessage().id)).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
}
