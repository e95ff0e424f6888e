import type { JobEvents } from '#messages/application/job-events.js';
import type { JobFollower } from '#messages/application/job-follower.js';
import type { Reconciler } from '#messages/application/reconciler.js';
import type { StrayMessage, StrayMessages } from '#messages/application/stray-messages.js';
import type { Attempt } from '#messages/domain/attempt.js';
import type { Message } from '#messages/domain/message.js';
import { aClaim, after, aMessage } from '../support/messages.js';

/** A worker's hold on a job, and how it can let go. */
export interface Held {
  complete(): Promise<unknown>;
  /** Once more, after a while. */
  fail(reason: string): Promise<unknown>;
  failForGood(reason: string): Promise<unknown>;
}

export interface CensusSubject {
  readonly strays: StrayMessages;
  readonly events: JobEvents;
  readonly reconciler: Reconciler;
  readonly follower: JobFollower;
  /** Has a message stored as it is; with an outbox entry; with a job that waits. */
  put(message: Message): Promise<void>;
  commit(message: Message): Promise<unknown>;
  enqueue(message: Message): Promise<void>;
  /** Lets a worker of ours, or another's, take the next job; a tidy one removes it when it has ended. */
  take(whose: 'ours' | 'foreign' | 'tidy foreign'): Promise<Held | null>;
  /** Lets a job that waits for its next attempt be due. */
  promote(message: Message): Promise<void>;
  /** Lets the queue itself give the waiting job up because its workers were silent. */
  stall(message: Message): Promise<void>;
  /** Takes the job away, as somebody might who empties the queue. */
  drop(message: Message): Promise<void>;
  find(message: Message): Promise<Message | null>;
  attempts(message: Message): Promise<readonly Attempt[]>;
  /** Relays the outbox; resolves to the ids of the jobs that then wait. */
  relay(): Promise<string[]>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

const lapsed = () => aClaim({ expiresAt: new Date(Date.now() - 1_000) });
const held = () => aClaim({ expiresAt: new Date(Date.now() + 60_000) });

/** Each way in which a message becomes a stray: resolves to it. */
const losses: Record<string, (subject: CensusSubject) => Promise<Message>> = {
  'queued, without job and outbox entry': async (subject) => {
    const message = aMessage();
    await subject.put(message);
    return message;
  },
  'claimed by a worker that was lost, and without a job': async (subject) => {
    const message = aMessage({ status: 'processing', attempts: 1, claim: lapsed() });
    await subject.put(message);
    return message;
  },
  'retried, while only the job of its first round is there': async (subject) => {
    const message = aMessage({ retries: 1 });
    await subject.put(message);
    await subject.enqueue(aMessage({ ...message.state, retries: 0 }));
    return message;
  },
  'completed by a worker of ours that did not settle it': async (subject) => {
    const message = await enqueued(subject);
    await (await subject.take('ours'))?.complete();
    return message;
  },
  'failed in the queue by a worker of ours': async (subject) => {
    const message = await enqueued(subject);
    await (await subject.take('ours'))?.failForGood('The store is away.');
    return message;
  },
  'gone from the queue, after it was put there again when a worker of ours had failed its job': async (subject) => {
    const message = await enqueued(subject);
    await (await subject.take('ours'))?.failForGood('The store is away.');
    await subject.reconciler.run();
    await subject.relay();
    await subject.drop(message);
    return message;
  },
  'failed by the queue because its workers were silent': async (subject) => {
    const message = await enqueued(subject);
    await subject.stall(message);
    return message;
  },
};

/** Each way in which another's worker can end a job, and what its message is to become. */
const endings = (['foreign', 'tidy foreign'] as const).flatMap((whose) => [
  {
    ending: `completed by a ${whose} worker`,
    tidy: whose === 'tidy foreign',
    end: async (subject: CensusSubject) => (await subject.take(whose))?.complete(),
    expected: { status: 'delivered', attempts: 1, failures: 0, failureReason: null },
  },
  {
    ending: `failed by a ${whose} worker`,
    tidy: whose === 'tidy foreign',
    end: async (subject: CensusSubject) => (await subject.take(whose))?.failForGood('no such address'),
    expected: { status: 'failed', attempts: 1, failures: 1, failureReason: 'no such address' },
  },
]);

async function enqueued(subject: CensusSubject): Promise<Message> {
  const message = aMessage();
  await subject.put(message);
  await subject.enqueue(message);
  return message;
}

/** What stray messages and job events guarantee, and the reconciler and follower that use them. */
export function describeCensus(name: string, open: () => Promise<CensusSubject>): void {
  describe(name, () => {
    let subject: CensusSubject;
    beforeAll(async () => {
      subject = await open();
    });
    beforeEach(() => subject.reset());
    afterAll(() => subject.close());

    const expectNothing = async () => {
      expect(await subject.strays.count()).toBe(0);
      expect(await subject.strays.find(10)).toEqual([]);
      expect(await subject.reconciler.run()).toEqual({ requeued: 0, followed: 0 });
    };

    describe('counts nothing', () => {
      it('of what is final, waits in the outbox or is claimed', async () => {
        for (const status of ['delivered', 'failed', 'cancelled'] as const) await subject.put(aMessage({ status }));
        await subject.commit(aMessage());
        await subject.commit(aMessage({ status: 'processing', claim: lapsed() }));
        await subject.put(aMessage({ status: 'processing', claim: held() }));
        await expectNothing();
      });

      it('of what has a job that waits, runs, or waits for its next attempt', async () => {
        const delayed = await enqueued(subject);
        await (await subject.take('foreign'))?.fail('once more');
        const running = await enqueued(subject);
        await subject.take('foreign');
        const waiting = await enqueued(subject);
        await expectNothing();
        for (const message of [delayed, running, waiting]) expect(await subject.find(message)).toEqual(message);
      });

      it('of what was retried and has the job of its new round', async () => {
        const message = aMessage({ retries: 1 });
        await subject.put(message);
        await subject.enqueue(aMessage({ ...message.state, retries: 0 }));
        await (await subject.take('foreign'))?.failForGood('before the retry');
        await subject.enqueue(message);
        await expectNothing();
      });
    });

    describe.each(Object.keys(losses))('of a message that is %s', (loss) => {
      let message: Message;
      beforeEach(async () => {
        message = (await losses[loss]?.(subject)) ?? aMessage();
      });

      it('counts one, which is put on its way again', async () => {
        expect(await subject.strays.count()).toBe(1);
        const { id, jobId, state } = message;
        const stray: StrayMessage = { id, retries: state.retries, jobId, endedElsewhere: null };
        expect(await subject.strays.find(10)).toEqual([stray]);
        expect(await subject.reconciler.run()).toEqual({ requeued: 1, followed: 0 });
        expect(await subject.strays.count()).toBe(0);
        expect(await subject.relay()).toContain(message.jobId);
        expect(await subject.strays.count()).toBe(0);
        expect(await subject.find(message)).toEqual(message);
      });
    });

    describe.each(endings)('of a message that was $ending', ({ tidy, end, expected }) => {
      it('counts one, and stores how it ended', async () => {
        const message = await enqueued(subject);
        const takenAt = Date.now();
        await end(subject);
        expect(await subject.strays.count()).toBe(1);
        expect(await subject.reconciler.run()).toEqual({ requeued: 0, followed: 1 });
        expect((await subject.find(message))?.state).toMatchObject({ ...expected, claim: null });
        const { status: outcome, failureReason: error } = expected;
        const [attempt, ...others] = await subject.attempts(message);
        expect([attempt, others]).toMatchObject([{ number: 1, outcome, error }, []]);
        if (attempt !== undefined && !tidy) {
          expect(attempt.startedAt.getTime()).toBeGreaterThanOrEqual(takenAt);
          expect(attempt.startedAt.getTime()).toBeLessThanOrEqual(takenAt + (attempt.durationMs ?? 0) + 1_000);
        }
        await expectNothing();
        expect(await subject.relay()).toEqual([]);
      });

      it('is read from the events, unless its job is gone after it failed', async () => {
        const { id, state } = await enqueued(subject);
        const { position } = await subject.events.read(null);
        await end(subject);
        const { attempts, failureReason: failedReason } = expected;
        const run = tidy ? null : { startedAt: expect.any(Date) as Date, endedAt: expect.any(Date) as Date };
        const expectedEnds =
          tidy && failedReason !== null ? [] : [{ id, retries: state.retries, attempts, failedReason, run }];
        const read = await subject.events.read(position);
        expect(read.ends).toEqual(expectedEnds);
        // Read again until it is followed.
        expect((await subject.events.read(read.position)).ends).toEqual(expectedEnds);
        expect(await subject.follower.run()).toBe(expectedEnds.length);
        expect((await subject.events.read(position)).ends).toEqual([]);
      });
    });

    it('counts the attempts that another\u2019s worker has made', async () => {
      const message = await enqueued(subject);
      for (let attempt = 1; attempt < 3; attempt++) {
        await (await subject.take('foreign'))?.fail('once more');
        await subject.promote(message);
      }
      await (await subject.take('foreign'))?.complete();
      expect(await subject.follower.run()).toBe(1);
      expect((await subject.find(message))?.state).toMatchObject({ status: 'delivered', attempts: 3, failures: 2 });
    });

    it.each(Object.keys(losses))('reads no end of a message that is %s', async (loss) => {
      const message = await losses[loss]?.(subject);
      expect((await subject.events.read(null)).ends).toEqual([]);
      expect(await subject.follower.run()).toBe(0);
      await subject.reconciler.run();
      expect(await subject.follower.run()).toBe(0);
      expect(message && (await subject.find(message))).toEqual(message);
    });

    it('counts all of them, and finds the oldest first, up to a limit', async () => {
      const all = [];
      for (const minutes of [2, 0, 1]) {
        const message = aMessage({ createdAt: after(minutes * 60_000) });
        await subject.put(message);
        all.push(message.id);
      }
      expect(await subject.strays.count()).toBe(3);
      expect((await subject.strays.find(2)).map(({ id }) => id)).toEqual([...all].sort().slice(0, 2));
    });

    it('requeues all of them in one run, however many', async () => {
      const all = Array.from({ length: 1_100 }, () => aMessage());
      for (const message of all) await subject.put(message);
      expect(await subject.reconciler.run()).toEqual({ requeued: 1_100, followed: 0 });
      expect(await subject.strays.count()).toBe(0);
    });

    it('does no harm when what it requeues is no stray any more', async () => {
      const message = aMessage();
      await subject.put(message);
      const [stray] = await subject.strays.find(1);
      if (stray === undefined) throw new Error('There must be one.');
      await subject.enqueue(message);
      const job = await subject.take('ours');
      await subject.strays.requeue(stray);
      // The worker that has the job keeps it.
      expect(await subject.relay()).toEqual([]);
      await job?.complete();
    });
  });
}
