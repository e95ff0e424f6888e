import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Job } from '#messages/application/delivering/deliveries.js';
import type { Outcome } from '#delivery/application/deliver-message.js';
import type { JobQueue, RunJob } from '#delivery/application/job-queue.js';
import type { Message } from '#messages/domain/message.js';
import { anyText } from '../support/any-text.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { after, aMessage, anUnstorable, jobOf, messages, textOf } from '../support/messages.js';

export interface JobQueueSubject {
  /** Two processes with the same queue. */
  readonly queue: JobQueue;
  readonly other: JobQueue;
  /** A process that can't reach it. */
  readonly cutOff: JobQueue;
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
export function describeJobQueue(
  name: string,
  open: () => Promise<JobQueueSubject>,
  { refusing = true, missing = null as string | null, shards = 1 } = {},
): void {
  describeUnless(missing)(name, () => {
    let subject: JobQueueSubject;
    const startWorker = (runJob: RunJob) => {
      const options = { concurrency: 3 * shards, rate: 0, lockMs: 30_000 };
      const clock = { isRight: true, onChange: () => undefined };
      const consuming = subject.queue.consume(runJob, options, clock, {
        failed: () => undefined,
        stuck: () => undefined,
      });
      consuming.start();
      return consuming;
    };
    /** Runs a worker until something is the case. */
    const run = async (runJob: RunJob, isOver: () => Promise<unknown>) => {
      const consuming = startWorker(runJob);
      try {
        await isOver();
      } finally {
        await consuming.close(5_000);
      }
    };
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

    it('knows which jobs it has', async () => {
      const [waiting, taken, gone] = [aMessage(), aMessage(), aMessage()];
      await subject.queue.add([taken]);
      await subject.take();
      await subject.queue.add([waiting]);
      const jobs = await subject.other.inspect([waiting, taken, gone].map(({ jobId }) => jobId));
      const live = { isLive: true, foreignEnd: null };
      expect(jobs).toEqual(new Map([waiting, taken].map(({ jobId }) => [jobId, live])));
    });

    it('removes only jobs that have ended, and then adds them anew', async () => {
      const [failed, waiting] = [aMessage(), aMessage()];
      await subject.queue.add([failed]);
      await run(
        () => Promise.resolve({ kind: 'failed', reason: 'no' }),
        async () => {
          const ended = async () => (await subject.queue.inspect([failed.jobId])).get(failed.jobId);
          await until(async () => (await ended())?.isLive === false);
          expect((await ended())?.foreignEnd).toBeNull();
        },
      );
      await subject.queue.add([failed, waiting]);
      const ids = [failed.jobId, waiting.jobId];
      await subject.queue.removeDead(ids);
      expect([...(await subject.queue.inspect(ids)).keys()]).toEqual([waiting.jobId]);
      await subject.queue.add([failed]);
      expect([...(await subject.queue.inspect(ids)).values()].map(({ isLive }) => isLive)).toEqual([true, true]);
      expect((await subject.queue.endsOf([failed.jobId])).size).toBe(0);
    });

    it('purges jobs of every state, but those that a worker has', async () => {
      const [ended, taken, waiting, delayed, gone, kept] = [
        ...[aMessage(), aMessage(), aMessage()],
        aMessage({ nextAttemptAt: new Date(Date.now() + 60_000), failures: 1 }),
        ...[aMessage(), aMessage()],
      ] as const;
      const idsOf = (all: readonly Message[]) => all.map(({ jobId }) => jobId).sort();
      const purged = [ended, taken, waiting, delayed, gone];
      await subject.queue.add([ended]);
      await run(
        () => Promise.resolve({ kind: 'failed', reason: 'no' }),
        () => until(async () => (await subject.queue.inspect([ended.jobId])).get(ended.jobId)?.isLive === false),
      );
      await subject.queue.add([taken]);
      expect(await subject.take()).toBe(taken.jobId);
      await subject.queue.add([waiting, delayed, kept]);
      expect((await subject.other.inspect(idsOf(purged))).size).toBe(4);
      expect(await subject.other.purge(idsOf(purged))).toBe(1);
      expect([...(await subject.queue.inspect(idsOf([...purged, kept]))).keys()].sort()).toEqual(idsOf([taken, kept]));
      await subject.queue.add([waiting]);
      expect((await subject.queue.inspect([waiting.jobId])).get(waiting.jobId)?.isLive).toBe(true);
    });

    it('mentions the jobs that it has, and none that is purged with its events', async () => {
      const idsOf = (some: readonly Message[]) => some.map(({ jobId }) => jobId).sort();
      const [done, waiting, kept] = [messages(3), messages(3), messages(3)] as const;
      const mentioned = async () => {
        const ids = new Set<string>();
        for await (const part of subject.other.mentionedJobs()) for (const id of part) ids.add(id);
        return [...ids].sort();
      };
      await subject.queue.add(done);
      await run(
        () => Promise.resolve({ kind: 'done' }),
        () => until(async () => (await subject.queue.inspect(idsOf(done))).size === 0),
      );
      await subject.queue.add([...waiting, ...kept]);
      expect(await mentioned()).toEqual(expect.arrayContaining(idsOf([...waiting, ...kept])));
      const gone = idsOf([...done, ...waiting]);
      expect(await subject.queue.purge(gone)).toBe(0);
      await subject.queue.removeEvents(gone);
      const left = await mentioned();
      expect(left.filter((id) => gone.includes(id))).toEqual([]);
      expect(left).toEqual(expect.arrayContaining(idsOf(kept)));
    });

    it('runs each job, and again when the run asks for it or rejects', async () => {
      const all = messages(9);
      const runs = new Map<string, number>();
      const outcomes: (() => Promise<Outcome>)[] = [
        () => Promise.resolve({ kind: 'again', afterMs: 10 }),
        () => Promise.reject(new Error('The store is away.')),
        () => Promise.resolve({ kind: 'done' }),
      ];
      const expected = new Map(all.map(({ id }, index) => [id, index % 3 === 2 ? 1 : 2]));
      await subject.queue.add(all);
      await run(
        ({ id }) => {
          const before = runs.get(id) ?? 0;
          runs.set(id, before + 1);
          const first = outcomes[all.findIndex((message) => message.id === id) % 3];
          return before === 0 && first !== undefined ? first() : Promise.resolve({ kind: 'done' });
        },
        () => until(async () => (await subject.queue.inspect(all.map(({ jobId }) => jobId))).size === 0),
      );
      expect(runs).toEqual(expected);
      expect((await subject.queue.readEnds(null)).ends.size).toBe(0);
    });

    it('waits for jobs in progress when it closes', async () => {
      let end: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (end = resolve));
      let ended = false;
      await subject.queue.add([aMessage()]);
      let begun = false;
      const consuming = startWorker(async () => {
        begun = true;
        await held;
        ended = true;
        return { kind: 'done' };
      });
      await until(() => begun);
      const closed = consuming.close(10_000);
      end();
      await closed;
      expect(ended).toBe(true);
    });

    it('keeps its identity, and takes nothing over', async () => {
      expect(await subject.other.identity()).toEqual(await subject.queue.identity());
      expect(await subject.queue.takeOver(() => Promise.resolve())).toBe(false);
    });

    it('is unavailable when it cannot be reached', async () => {
      await expect(subject.cutOff.add([aMessage()])).rejects.toMatchObject({ code: 'unavailable' });
      await expect(subject.cutOff.remove(aMessage().id)).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
}
