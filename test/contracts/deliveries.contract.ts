import type { Deliveries, JobEnd } from '#messages/application/delivering/deliveries.js';
import type { Attempt } from '#messages/domain/attempt.js';
import type { Message } from '#messages/domain/message.js';
import {
  aClaim,
  after,
  aMessage,
  claim as claimIn,
  claimTerms,
  jobOf,
  messages,
  SENT_AT,
  TRACEPARENT,
} from '../support/messages.js';

export interface DeliveriesSubject {
  /** Two processes on the same store. */
  readonly deliveries: Deliveries;
  readonly other: Deliveries;
  /** Has a message stored as it is. */
  put(message: Message): Promise<void>;
  find(message: Message): Promise<Message | null>;
  /** Its attempts that have ended. */
  attempts(message: Message): Promise<readonly Attempt[]>;
  /** Has another state of a message stored instead. */
  replace(message: Message): Promise<void>;
  close(): Promise<void>;
}

const processing = { status: 'processing', attempts: 1 } as const;
const deliver = (claimed: Message) => claimed.deliver(SENT_AT);
const requeue = (claimed: Message) => claimed.requeue('no luck', SENT_AT, SENT_AT);
const requeueLater = (claimed: Message) => claimed.requeue('no luck', SENT_AT, after(3_600_000));
const fail = (claimed: Message) => claimed.fail('no luck', SENT_AT);
const ends = [deliver, requeue, requeueLater, fail];

/** What every store guarantees to workers. */
export function describeDeliveries(name: string, open: () => Promise<DeliveriesSubject>): void {
  describe(name, () => {
    let subject: DeliveriesSubject;
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());

    const stored = async (message: Message) => {
      const found = await subject.find(message);
      if (found === null) throw new Error('The message is not in the store.');
      return found;
    };
    const claim = (message: Message, leaseMs = 45_000, deliveries = subject.deliveries) =>
      claimIn(deliveries, message, claimTerms({ leaseMs }));
    const put = async (message: Message) => {
      await subject.put(message);
      return message;
    };

    describe('claiming', () => {
      it('begins a queued message under the claim, with the attempt counted', async () => {
        const message = await put(
          aMessage({
            ...{ attempts: 3, failures: 2, crashes: 1, failureReason: 'no luck', nextAttemptAt: SENT_AT },
            traceparent: TRACEPARENT,
          }),
        );
        const terms = claimTerms();
        const claimed = await claimIn(subject.deliveries, message, terms);
        const { updatedAt, claim: held } = claimed.state;
        const begun = { status: 'processing', attempts: 4, nextAttemptAt: null, updatedAt, claim: held };
        expect(claimed.state).toEqual({ ...message.state, ...begun });
        expect(held).toMatchObject({ token: terms.token, alone: false });
        expect(await stored(message)).toEqual(claimed);
      });

      it('lets the claim lapse after the lease, by the clock of the store', async () => {
        const { claim: held, updatedAt } = (await claim(await put(aMessage()), 60_000)).state;
        const leaseMs = (held?.expiresAt.getTime() ?? 0) - updatedAt.getTime();
        expect(Math.abs(leaseMs - 60_000)).toBeLessThan(1_000);
      });

      it.each([false, true])(
        'takes over what a lost worker had begun, and counts the crash (alone: %s)',
        async (alone) => {
          const held = { claim: aClaim({ alone }), crashes: 2, loneCrashes: 1, failures: 1, failureReason: 'x' };
          const message = await put(aMessage({ ...processing, ...held }));
          const claimed = await claim(message);
          expect(claimed.state).toMatchObject({
            ...{ status: 'processing', attempts: 2, crashes: 3, loneCrashes: alone ? 2 : 1, failures: 1 },
            failureReason: 'x',
          });
          expect(claimed.state.claim?.alone).toBe(false);
          expect(await stored(message)).toEqual(claimed);
        },
      );

      it('counts a claim once that is repeated because its response was lost', async () => {
        const message = await put(aMessage());
        const terms = claimTerms();
        for (let times = 0; times < 3; times++) {
          const claimed = await claimIn(subject.deliveries, message, terms);
          expect(claimed.state).toMatchObject({ status: 'processing', attempts: 1, crashes: 0, loneCrashes: 0 });
        }
      });

      it('claims nothing for a final message, a job of another round or an unknown message', async () => {
        const final = (['delivered', 'failed', 'cancelled'] as const).map((status) => aMessage({ status }));
        const retried = aMessage({ retries: 2 });
        for (const message of [...final, retried]) await put(message);
        const otherRounds = [0, 1, 3].map((retries) => ({ ...jobOf(retried), retries }));
        for (const job of [...final.map(jobOf), ...otherRounds, jobOf(aMessage())]) {
          expect(await subject.deliveries.claim(job, claimTerms())).toBeNull();
        }
        for (const message of [...final, retried]) expect(await stored(message)).toEqual(message);
      });

      it('leaves a message alone that waits for its next attempt, and tells each of its jobs for how long', async () => {
        const message = await put(aMessage());
        const claimed = await claim(message);
        await subject.deliveries.settle(claimed, requeueLater(claimed));
        const waiting = await stored(message);
        const { nextAttemptAt, updatedAt } = waiting.state;
        expect(Math.abs(Number(nextAttemptAt) - updatedAt.getTime() - 3_600_000)).toBeLessThan(1_000);
        const other = await put(aMessage());
        const [first, second, begun] = await Promise.all(
          [message, message, other].map((one) => subject.deliveries.claim(jobOf(one), claimTerms())),
        );
        for (const result of [first, second]) {
          const { dueInMs } = result as { dueInMs: number };
          expect(dueInMs).toBeGreaterThan(3_500_000);
          expect(dueInMs).toBeLessThanOrEqual(3_600_000);
        }
        expect(begun).toEqual(await stored(other));
        expect(await stored(message)).toEqual(waiting);
        expect(await subject.deliveries.claim({ ...jobOf(message), retries: 1 }, claimTerms())).toBeNull();
      });

      it('claims a message whose wait a clock in the future has set', async () => {
        const tomorrow = new Date(Date.now() + 86_400_000);
        const message = await put(aMessage({ updatedAt: tomorrow, nextAttemptAt: after(1_000, tomorrow) }));
        expect((await claim(message)).state).toMatchObject({ status: 'processing', nextAttemptAt: null });
      });

      it('lets each of many at once take over from the one before, one attempt each', async () => {
        const message = await put(aMessage());
        const through = (index: number) => (index % 2 ? subject.other : subject.deliveries);
        const claims = await Promise.all(
          Array.from({ length: 100 }, (_, index) => claim(message, 45_000, through(index))),
        );
        const inOrder = claims.sort((one, other) => one.state.attempts - other.state.attempts);
        expect(inOrder.map(({ state }) => state.attempts)).toEqual(inOrder.map((_, index) => index + 1));
        expect(inOrder.map(({ state }) => state.crashes)).toEqual(inOrder.map((_, index) => index));
        expect(await stored(message)).toEqual(inOrder.at(-1));
        const settled = await Promise.all(
          inOrder.map((claimed, index) => through(index).settle(claimed, deliver(claimed))),
        );
        expect(settled).toEqual(inOrder.map((_, index) => index === 99));
        expect((await stored(message)).state).toMatchObject({ status: 'delivered', attempts: 100, claim: null });
        const noted = await subject.attempts(message);
        expect(noted.map(({ number }) => number)).toEqual(inOrder.map((_, index) => index + 1));
        const lost = { outcome: 'lost', durationMs: null, error: null };
        expect(noted).toMatchObject([...Array<object>(99).fill(lost), { outcome: 'delivered' }]);
        expect(noted.map(({ startedAt }) => startedAt)).toEqual(inOrder.map(({ state }) => state.updatedAt));
      });

      it('claims many at once, each for itself', async () => {
        const all = await Promise.all(messages(300).map(put));
        const claimed = await Promise.all(
          [...all, ...all].map((message, index) =>
            claim(message, 45_000, index < 300 ? subject.deliveries : subject.other),
          ),
        );
        expect(new Set(claimed.map(({ state }) => state.claim?.token)).size).toBe(600);
        expect((await Promise.all(all.map(stored))).map(({ state }) => state.attempts)).toEqual(all.map(() => 2));
      });
    });

    describe('excusing a worker that was only stalled', () => {
      /** A message that was taken over; resolves to what the stalled worker and the other one have claimed. */
      const takenOver = async (message: Message) => [await claim(message), await claim(message)] as const;
      const crashes = async (message: Message) => (await stored(message)).state.crashes;

      it('takes its crash back once, and says so in the attempt, which stays lost', async () => {
        const message = await put(aMessage({ crashes: 1 }));
        const [stalled, taken] = await takenOver(message);
        expect(await crashes(message)).toBe(2);
        for (const deliveries of [subject.other, subject.deliveries]) await deliveries.excuse(stalled);
        await subject.deliveries.excuse(taken);
        expect(await crashes(message)).toBe(1);
        expect(await subject.attempts(message)).toMatchObject([
          { number: 1, outcome: 'lost', error: 'worker_stalled' },
        ]);
        expect(await subject.deliveries.settle(taken, deliver(taken))).toBe(true);
      });

      it('also while the message waits for its next attempt', async () => {
        const message = await put(aMessage());
        const [stalled, taken] = await takenOver(message);
        await subject.deliveries.settle(taken, requeue(taken));
        await subject.deliveries.excuse(stalled);
        expect((await stored(message)).state).toMatchObject({ crashes: 0, failures: 1 });
      });

      it('takes back three crashes of a message, and then no more', async () => {
        const message = await put(aMessage());
        let stalled = await claim(message);
        for (let count = 1; count <= 5; count++) {
          const taken = await claim(message);
          await subject.deliveries.excuse(stalled);
          expect(await crashes(message)).toBe(Math.max(0, count - 3));
          stalled = taken;
        }
      });

      it.each([
        ['has been delivered', deliver],
        ['has failed', fail],
      ])('changes nothing when the message %s', async (_what, end) => {
        const message = await put(aMessage());
        const [stalled, taken] = await takenOver(message);
        await subject.deliveries.settle(taken, end(taken));
        await subject.deliveries.excuse(stalled);
        expect(await crashes(message)).toBe(1);
      });

      it('changes nothing in another round, and nothing for an attempt that was not lost', async () => {
        const message = await put(aMessage());
        const [stalled] = await takenOver(message);
        await subject.replace(aMessage({ ...(await stored(message)).state, retries: 1 }));
        await subject.deliveries.excuse(stalled);
        const own = await put(aMessage({ ...processing, crashes: 1, claim: aClaim() }));
        await subject.deliveries.excuse(own);
        expect(await Promise.all([crashes(message), crashes(own)])).toEqual([1, 1]);
      });
    });

    describe('settling', () => {
      it('changes nothing for a worker whose message was taken over, or delivered by another', async () => {
        const message = await put(aMessage());
        const lost = await claim(message);
        const expectUnchanged = async (expected: Message) => {
          for (const end of ends) expect(await subject.deliveries.settle(lost, end(lost))).toBe(false);
          expect(await subject.deliveries.runsAlone(lost, 1)).toBe(false);
          expect(await stored(message)).toEqual(expected);
        };
        const taken = await claim(message);
        await expectUnchanged(taken);
        await subject.deliveries.settle(taken, deliver(taken));
        await expectUnchanged(await stored(message));
      });

      it.each([
        ['delivered', null, deliver],
        ['retried', 'no luck', requeue],
        ['failed', 'no luck', fail],
      ])('stores the end of an attempt once, also when it is repeated: %s', async (outcome, error, end) => {
        const message = await put(aMessage({ attempts: 4 }));
        const claimed = await claim(message);
        const ended = end(claimed);
        for (const deliveries of [subject.other, subject.deliveries, subject.other]) {
          expect(await deliveries.settle(claimed, ended)).toBe(true);
        }
        const { updatedAt, nextAttemptAt } = (await stored(message)).state;
        expect((await stored(message)).state).toEqual({ ...ended.state, updatedAt, nextAttemptAt });
        expect(nextAttemptAt === null).toBe(ended.state.nextAttemptAt === null);
        expect(await subject.attempts(message)).toMatchObject([{ number: 5, outcome, error }]);
      });

      it('does not repeat an end after which the message was claimed again', async () => {
        const message = await put(aMessage());
        const claimed = await claim(message);
        await subject.deliveries.settle(claimed, requeue(claimed));
        const next = await claim(message);
        expect(await subject.deliveries.settle(claimed, requeue(claimed))).toBe(false);
        expect(await stored(message)).toEqual(next);
        await subject.deliveries.settle(next, requeue(next));
        expect(await subject.deliveries.settle(claimed, requeue(claimed))).toBe(false);
      });

      it('stores no end of an earlier round for a message that was retried', async () => {
        const message = await put(aMessage());
        const claimed = await claim(message);
        const failed = fail(claimed);
        await subject.deliveries.settle(claimed, failed);
        await subject.replace(failed.retry(SENT_AT));
        for (const end of ends) {
          expect(await subject.deliveries.settle(claimed, end(claimed))).toBe(false);
        }
        expect(await stored(message)).toEqual(failed.retry(SENT_AT));
      });
    });

    describe('following a job that was ended elsewhere', () => {
      const endOf = (message: Message, end: Partial<JobEnd> = {}) => [
        { id: message.id, retries: message.state.retries, attempts: 1, failedReason: null, run: null, ...end },
      ];
      const follow = (message: Message, end?: Partial<JobEnd>) => subject.other.follow(endOf(message, end));

      it('stores a whole delivery', async () => {
        const message = await put(
          aMessage({
            ...{ attempts: 2, failures: 1, retries: 1, failureReason: 'no luck', nextAttemptAt: SENT_AT },
          }),
        );
        expect(await follow(message)).toBe(1);
        const { updatedAt } = (await stored(message)).state;
        const delivered = { status: 'delivered', attempts: 3, failureReason: null, nextAttemptAt: null, updatedAt };
        expect((await stored(message)).state).toEqual({ ...message.state, ...delivered });
        expect(await follow(message)).toBe(0);
      });

      it('stores how often it was tried, and why it failed', async () => {
        const message = await put(aMessage());
        expect(await follow(message, { attempts: 3, failedReason: 'no such address' })).toBe(1);
        const failed = { status: 'failed', attempts: 3, failures: 3, failureReason: 'no such address' };
        expect((await stored(message)).state).toMatchObject(failed);
      });

      it('takes over from a worker of ours that was lost', async () => {
        const lapsed = aClaim({ expiresAt: new Date(SENT_AT.getTime() - 1), alone: true });
        const message = await put(aMessage({ ...processing, claim: lapsed }));
        expect(await follow(message)).toBe(1);
        const delivered = { status: 'delivered', attempts: 2, crashes: 1, loneCrashes: 1, claim: null };
        expect((await stored(message)).state).toMatchObject(delivered);
      });

      it('stores the last attempt with its times, and the one that was lost before it', async () => {
        const run = { startedAt: after(-5_000), endedAt: after(-3_000) };
        const queued = await put(aMessage());
        await follow(queued, { attempts: 3, failedReason: 'no such address', run });
        const failed = { number: 3, startedAt: run.startedAt, durationMs: 2_000, outcome: 'failed' };
        expect(await subject.attempts(queued)).toMatchObject([
          { ...failed, error: 'no such address', target: 'worker' },
        ]);
        const held = { status: 'processing', attempts: 2, claim: aClaim({ expiresAt: after(-1_000) }) } as const;
        const lost = await put(aMessage(held));
        await follow(lost);
        expect(await subject.attempts(lost)).toMatchObject([
          { number: 2, outcome: 'lost', target: 'handler', startedAt: lost.state.updatedAt, durationMs: null },
          { number: 3, outcome: 'delivered', target: 'worker', error: null },
        ]);
      });

      it('changes nothing that a worker of ours holds, that is final, in another round, or gone', async () => {
        const begun = await claim(await put(aMessage()));
        const others = [aMessage({ status: 'cancelled' }), aMessage({ status: 'failed' }), aMessage({ retries: 1 })];
        for (const message of others) await put(message);
        const all = [begun, ...others, aMessage()];
        expect(await subject.deliveries.follow(all.flatMap((message) => endOf(message, { retries: 0 })))).toBe(0);
        for (const message of [begun, ...others]) expect(await stored(message)).toEqual(message);
        expect(await subject.deliveries.follow([])).toBe(0);
      });

      it('counts each of many once, when two processes follow them in opposite order', async () => {
        const all = await Promise.all(messages(300).map(put));
        const [some, reversed] = [all, [...all].reverse()].map((list) => list.flatMap((message) => endOf(message)));
        const counts = await Promise.all([subject.deliveries.follow(some ?? []), subject.other.follow(reversed ?? [])]);
        expect(counts[0] + counts[1]).toBe(300);
        for (const message of all) expect((await stored(message)).state.attempts).toBe(1);
      });
    });

    describe('attempts', () => {
      it('are stored as they end, each with its times and its error', async () => {
        const message = await put(aMessage());
        const first = await claim(message);
        await subject.deliveries.settle(first, requeue(first));
        const second = await claim(message);
        await subject.other.settle(second, deliver(second));
        const noted = await subject.attempts(message);
        const handler = { target: 'handler', responseStatus: null, responseBody: null };
        const times = (index: number, claimed: Message) => {
          const durationMs = noted[index]?.durationMs ?? -1;
          expect(durationMs).toBeGreaterThanOrEqual(0);
          expect(durationMs).toBeLessThan(10_000);
          return { startedAt: claimed.state.updatedAt, durationMs };
        };
        expect(noted).toEqual([
          { number: 1, ...times(0, first), outcome: 'retried', error: 'no luck', ...handler },
          { number: 2, ...times(1, second), outcome: 'delivered', error: null, ...handler },
        ]);
      });
    });

    describe('running alone', () => {
      it('is stored with the claim, which is renewed, until the message is settled', async () => {
        const message = await put(aMessage());
        const claimed = await claim(message, 1_000);
        expect(await subject.other.runsAlone(claimed, 60_000)).toBe(true);
        const { claim: held, ...rest } = (await stored(message)).state;
        const before = claimed.state.claim;
        expect(rest).toEqual({ ...claimed.state, claim: undefined });
        expect(held).toMatchObject({ token: before?.token, alone: true });
        expect((held?.expiresAt.getTime() ?? 0) - (before?.expiresAt.getTime() ?? 0)).toBeGreaterThan(58_000);
        await subject.deliveries.settle(claimed, deliver(claimed));
        expect(await subject.deliveries.runsAlone(claimed, 60_000)).toBe(false);
      });
    });
  });
}
