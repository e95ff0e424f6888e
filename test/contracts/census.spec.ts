import { reconcilerStatus } from '#upkeep/adapters/postgres/reconciler-status.js';
import type { Message } from '#messages/domain/message.js';
import { aClaim, after, aMessage, claimTerms, jobOf } from '../support/messages.js';
import { NO_REDIS } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';
import {
  openReconciling,
  openReconcilingOnCluster,
  openReconcilingOnRedis,
  type Reconciling,
} from './reconciling-process.js';

const lapsed = () => aClaim({ expiresAt: new Date(Date.now() - 1_000) });
const held = () => aClaim({ expiresAt: new Date(Date.now() + 60_000) });

/** Each way in which a message becomes a stray: resolves to it. */
const losses: Record<string, (parts: Reconciling) => Promise<Message>> = {
  'queued, without job and outbox entry': async (parts) => {
    const message = aMessage();
    await parts.store.put(message);
    return message;
  },
  'claimed by a worker that was lost, and without a job': async (parts) => {
    const message = aMessage({ status: 'processing', attempts: 1, claim: lapsed() });
    await parts.store.put(message);
    return message;
  },
  'retried, while only the job of its first round is there': async (parts) => {
    const message = aMessage({ retries: 1 });
    await parts.store.put(message);
    await parts.bullmq.queue.add([aMessage({ ...message.state, retries: 0 })]);
    return message;
  },
  'completed by a worker of ours that did not settle it': async (parts) => {
    const message = await enqueued(parts);
    await (await parts.take('ours'))?.complete();
    return message;
  },
  'failed in the queue by a worker of ours': async (parts) => {
    const message = await enqueued(parts);
    await (await parts.take('ours'))?.failForGood('The store is away.');
    return message;
  },
  'gone from the queue, after it was put there again when a worker of ours had failed its job': async (parts) => {
    const message = await enqueued(parts);
    await (await parts.take('ours'))?.failForGood('The store is away.');
    await parts.reconcile();
    await relayed(parts);
    await parts.queue.lose(message.jobId);
    return message;
  },
  'failed by the queue because its workers were silent': async (parts) => {
    const message = await enqueued(parts);
    await parts.bullmq.take({ lockDuration: 1 });
    const strict = parts.bullmq.run({ stalledInterval: 20, maxStalledCount: 0 });
    const state = async () => (await parts.bullmq.job(message.jobId))?.getState();
    await parts.store.until(async () => (await state()) === 'failed');
    await strict.close();
    return message;
  },
};

/** Each way in which another's worker can end a job, and what its message is to become. */
const endings = (['foreign', 'tidy foreign'] as const).flatMap((whose) => [
  {
    ending: `completed by a ${whose} worker`,
    tidy: whose === 'tidy foreign',
    end: async (parts: Reconciling) => (await parts.take(whose))?.complete(),
    expected: { status: 'delivered', attempts: 1, failures: 0, failureReason: null },
  },
  {
    ending: `failed by a ${whose} worker`,
    tidy: whose === 'tidy foreign',
    end: async (parts: Reconciling) => (await parts.take(whose))?.failForGood('no such address'),
    expected: { status: 'failed', attempts: 1, failures: 1, failureReason: 'no such address' },
  },
]);

async function enqueued({ store, bullmq }: Reconciling): Promise<Message> {
  const message = aMessage();
  await store.put(message);
  await bullmq.queue.add([message]);
  return message;
}

/** Relays the outbox; resolves to the ids of the jobs that then wait. */
async function relayed({ relay, bullmq }: Reconciling): Promise<string[]> {
  await relay.sweep(0);
  return bullmq.waiting();
}

for (const [name, open, missing] of [
  ['PostgreSQL', openReconciling, null],
  ['Redis', openReconcilingOnRedis, NO_REDIS],
  ['a cluster, in three shards', openReconcilingOnCluster, NO_REDIS],
] as const)
  describeUnless(missing)(`The census with a queue on ${name}`, () => {
    let parts: Reconciling;
    beforeAll(async () => {
      parts = await open();
    });
    beforeEach(() => parts.reset());
    afterAll(() => parts.close());

    const expectNothing = async () => {
      expect(await parts.strays.count()).toBe(0);
      expect(await parts.findStrays(10)).toEqual([]);
      expect(await parts.reconcile()).toEqual([]);
    };

    describe('counts nothing', () => {
      it('of what is final, waits in the outbox or is claimed', async () => {
        for (const status of ['delivered', 'failed', 'cancelled'] as const) await parts.store.put(aMessage({ status }));
        await parts.store.commit(aMessage());
        await parts.store.commit(aMessage({ status: 'processing', claim: lapsed() }));
        await parts.store.put(aMessage({ status: 'processing', claim: held() }));
        await expectNothing();
      });

      it('of what waits in the outbox for its time', async () => {
        const deliverAt = new Date(Date.now() + 3_600_000);
        const entry = await parts.store.commit(aMessage({ deliverAt }));
        const scheduled = 'UPDATE sluice.outbox SET for_sweeper = true, due_at = $2 WHERE id = $1';
        await parts.store.sql(scheduled, [entry, deliverAt]);
        await expectNothing();
      });

      /** A delivery to an endpoint that is due now, or has failed. */
      const deliver = async ({ id, state }: Message, endpointId: string, dueAt: Date | null = new Date()) => {
        const text = `INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at)
                      VALUES ($1, $2, $3, $4)`;
        await parts.store.sql(text, [id, endpointId, state.accountId, dueAt]);
      };

      it('but counts a message for endpoints without a delivery that is left to make', async () => {
        const [one, other] = [aMessage({ delivery: 'webhooks' }), aMessage({ delivery: 'webhooks' })];
        for (const message of [one, other]) await parts.store.put(message);
        await deliver(one, 'ep_1', null);
        expect(await parts.strays.count()).toBe(2);
        await deliver(one, 'ep_2');
        expect(await parts.strays.count()).toBe(1);
        expect(await parts.reconcile()).toEqual([]);
      });

      it.each(['pull', 'webhooks'] as const)(
        'of what has no job because it is for %s, whatever its row says',
        async (delivery) => {
          // An expired lease is ended, by another step.
          const claim = delivery === 'pull' ? held() : lapsed();
          const all = [aMessage({ delivery }), aMessage({ delivery, status: 'processing', claim })];
          for (const message of all) {
            await parts.store.put(message);
            if (delivery === 'webhooks') await deliver(message, 'ep_1');
          }
          await expectNothing();
          for (const message of all) {
            const { id, state } = message;
            await parts.store.sql('INSERT INTO sluice.outbox (message_ids, bytes) VALUES ($1, 1)', [[id]]);
            expect(await parts.deliveries.claim(jobOf(message), claimTerms())).toBeNull();
            const end = { id, retries: state.retries, attempts: 1, failedReason: null, run: null };
            expect(await parts.deliveries.follow([end])).toBe(0);
            expect(await parts.store.find(message)).toEqual(message);
          }
          expect(await relayed(parts)).toEqual([]);
        },
      );

      it('of what waits for the end of a suspension', async () => {
        const message = aMessage();
        await parts.store.commit(message);
        await parts.store.sql(`UPDATE sluice.outbox SET suspended_account = $1, due_at = 'infinity'`, [
          message.state.accountId,
        ]);
        await expectNothing();
      });

      it('of what has a job that waits, runs, or waits for its next attempt', async () => {
        const delayed = await enqueued(parts);
        await (await parts.take('foreign'))?.fail('once more');
        const running = await enqueued(parts);
        await parts.take('foreign');
        const waiting = await enqueued(parts);
        await expectNothing();
        for (const message of [delayed, running, waiting]) expect(await parts.store.find(message)).toEqual(message);
      });

      it('of what was retried and has the job of its new round', async () => {
        const message = aMessage({ retries: 1 });
        await parts.store.put(message);
        await parts.bullmq.queue.add([aMessage({ ...message.state, retries: 0 })]);
        await (await parts.take('foreign'))?.failForGood('before the retry');
        await parts.bullmq.queue.add([message]);
        await expectNothing();
      });
    });

    it.each(Object.keys(losses))('counts and requeues a message that is %s, and reads no end of it', async (loss) => {
      const message = (await losses[loss]?.(parts)) ?? aMessage();
      expect(await parts.strays.count()).toBe(1);
      const { id, jobId, state } = message;
      expect(await parts.findStrays(10)).toEqual([{ id, retries: state.retries, jobId, endedElsewhere: null }]);
      expect((await parts.readEnds(null)).ends).toEqual([]);
      expect(await parts.follower.execute()).toBe(0);
      expect(await parts.reconcile()).toEqual([{ requeued: 1, followed: 0 }]);
      expect(await parts.strays.count()).toBe(0);
      expect(await relayed(parts)).toContain(message.jobId);
      expect(await parts.strays.count()).toBe(0);
      expect(await parts.follower.execute()).toBe(0);
      expect(await parts.store.find(message)).toEqual(message);
    });

    describe.each(endings)('of a message that was $ending', ({ tidy, end, expected }) => {
      it('counts one, and stores how it ended', async () => {
        const message = await enqueued(parts);
        const takenAt = Date.now();
        await end(parts);
        expect(await parts.strays.count()).toBe(1);
        expect(await parts.reconcile()).toEqual([{ requeued: 0, followed: 1 }]);
        expect((await parts.store.find(message))?.state).toMatchObject({ ...expected, claim: null });
        const { status: outcome, failureReason: error } = expected;
        const [attempt, ...others] = (await parts.messages.attempts(message.state.accountId, message.id)) ?? [];
        expect([attempt, others]).toMatchObject([{ number: 1, outcome, error }, []]);
        if (attempt !== undefined && !tidy) {
          expect(attempt.startedAt.getTime()).toBeGreaterThanOrEqual(takenAt);
          expect(attempt.startedAt.getTime()).toBeLessThanOrEqual(takenAt + (attempt.durationMs ?? 0) + 15_000);
        }
        await expectNothing();
        expect(await relayed(parts)).toEqual([]);
      });

      it('is read from the events, unless its job is gone after it failed', async () => {
        const { id, state } = await enqueued(parts);
        const { position } = await parts.readEnds(null);
        await end(parts);
        const { attempts, failureReason: failedReason } = expected;
        const run = tidy ? null : { startedAt: expect.any(Date) as Date, endedAt: expect.any(Date) as Date };
        const expectedEnds =
          tidy && failedReason !== null ? [] : [{ id, retries: state.retries, attempts, failedReason, run }];
        const read = await parts.readEnds(position);
        expect(read.ends).toEqual(expectedEnds);
        // Read again until it is followed.
        expect((await parts.readEnds(read.position)).ends).toEqual(expectedEnds);
        expect(await parts.follower.execute()).toBe(expectedEnds.length);
        expect((await parts.readEnds(position)).ends).toEqual([]);
      });
    });

    it('is read from the events, also if the position is one of a queue whose clock was ahead', async () => {
      const { id } = await enqueued(parts);
      const { position } = await parts.readEnds(String(Date.now() + 3_600_000));
      await (await parts.take('foreign'))?.complete();
      expect((await parts.readEnds(position)).ends).toMatchObject([{ id }]);
    });

    it('counts the attempts that another\u2019s worker has made', async () => {
      const message = await enqueued(parts);
      for (let attempt = 1; attempt < 3; attempt++) {
        await (await parts.take('foreign'))?.fail('once more');
        await (await parts.bullmq.job(message.jobId))?.promote();
      }
      await (await parts.take('foreign'))?.complete();
      expect(await parts.follower.execute()).toBe(1);
      expect((await parts.store.find(message))?.state).toMatchObject({ status: 'delivered', attempts: 3, failures: 2 });
    });

    it('counts an attempt of another\u2019s worker that was lost', async () => {
      const message = await enqueued(parts);
      await parts.bullmq.take({ lockDuration: 1 });
      const other = parts.bullmq.run({ stalledInterval: 20 });
      await parts.store.until(async () => (await parts.follower.execute()) === 1);
      await other.close();
      expect((await parts.store.find(message))?.state).toMatchObject({ status: 'delivered', attempts: 2 });
    });

    it('counts all of them, and finds them in steps, from the oldest on and then again', async () => {
      const all = [2, 0, 1].map((minutes) => aMessage({ createdAt: after(minutes * 60_000) }));
      for (const message of all) await parts.store.put(message);
      const next = async () => (await parts.findStrays(2)).map(({ id }) => id);
      const found = async () => (await reconcilerStatus(parts.database)).strays;
      const [first, second] = [[all[1]?.id, all[2]?.id], [all[0]?.id]];
      expect(await parts.strays.count()).toBe(3);
      for (const expected of [first, second, first]) expect(await next()).toEqual(expected);
      expect(await found()).toBe(3);
      await next();
      await parts.strays.requeue(await parts.findStrays(10));
      expect(await parts.findStrays(10)).toEqual([]);
      expect(await found()).toBe(0);
    });

    it('requeues all of them in one run, however many', async () => {
      const all = Array.from({ length: 1_100 }, () => aMessage());
      for (const message of all) await parts.store.put(message);
      expect(await parts.reconcile()).toEqual([{ requeued: 1_100, followed: 0 }]);
      expect(await parts.strays.count()).toBe(0);
    });

    it('does no harm when what it requeues is no stray any more', async () => {
      const message = aMessage();
      await parts.store.put(message);
      const strays = await parts.findStrays(10);
      expect(strays).toHaveLength(1);
      await parts.bullmq.queue.add([message]);
      const job = await parts.take('ours');
      await parts.strays.requeue(strays);
      // The worker that has the job keeps it.
      expect(await relayed(parts)).toEqual([]);
      await job?.complete();
    });
  });
