import { Message } from '#messages/domain/message.js';
import { readTypeFilter } from '#messages/domain/type-filter.js';
import { aClaim, after, aMessage, anAccountId, claimTerms, jobOf, messages } from '../../support/messages.js';
import { NOTHING, type MessagesSubject } from './subject.js';

const cancel = (message: Message) => message.cancel(after(1));
const retry = (message: Message) => message.retry(after(1));
/** A message as the store changed it, at a time of its own. */
const at = (message: Message | null, updatedAt = message?.state.updatedAt) =>
  message === null || updatedAt === undefined ? null : Message.restore({ ...message.state, updatedAt });
/** One for what was changed, none for what was not. */
const outcome = [() => 1, () => 0] as const;
const failed = { status: 'failed', attempts: 5, failures: 5, crashes: 2, loneCrashes: 1, failureReason: 'x' } as const;

export function describeChanging(subject: MessagesSubject): void {
  describe('changing messages', () => {
    const stored = ({ id, state }: Message) => subject.other.find(state.accountId, id);

    it('moves a message by its own method, and no other', async () => {
      const [message, bystander] = [aMessage(), aMessage()];
      for (const one of [message, bystander]) await subject.put(one);
      const cancelled = await subject.messages.change(message.state.accountId, message.id, cancel);
      expect(cancelled).toEqual(at(message.cancel(after(1)), cancelled?.state.updatedAt));
      expect(Math.abs(Date.now() - (cancelled?.state.updatedAt.getTime() ?? 0))).toBeLessThan(10_000);
      expect(await stored(message)).toEqual(cancelled);
      expect(await stored(bystander)).toEqual(bystander);
      expect(await subject.stored()).toMatchObject({ 'outbox entry': [] });
    });

    it('changes nothing of another account, and nothing that is not there', async () => {
      const message = aMessage();
      await subject.put(message);
      expect(await subject.messages.change(anAccountId(), message.id, cancel)).toBeNull();
      expect(await subject.messages.change(message.state.accountId, aMessage().id, cancel)).toBeNull();
      expect(await stored(message)).toEqual(message);
    });

    it('changes nothing when the message refuses, and rejects with its error', async () => {
      const message = aMessage({ status: 'processing', claim: aClaim() });
      await subject.put(message);
      const change = subject.messages.change(message.state.accountId, message.id, cancel);
      await expect(change).rejects.toMatchObject({ code: 'invalid_transition' });
      expect(await stored(message)).toEqual(message);
    });

    it('gives a message that is retried a new job, with its outbox entry in the same commit', async () => {
      const message = aMessage(failed);
      await subject.put(message);
      const { accountId } = message.state;
      await subject.refuse('outbox entry', message, 'at commit');
      await expect(subject.messages.change(accountId, message.id, retry)).rejects.toThrow('refused by the test');
      expect(await stored(message)).toEqual(message);
      await subject.relent();
      const retried = await subject.messages.change(accountId, message.id, retry);
      expect(retried).toEqual(at(message.retry(after(1)), retried?.state.updatedAt));
      expect(retried?.jobId).toBe(`${message.id}.1`);
      expect(await stored(message)).toEqual(retried);
      expect(await subject.stored()).toEqual({ ...NOTHING, message: [message.id], 'outbox entry': [message.id] });
    });

    it('lets one of many win who change a message at the same moment', async () => {
      const message = aMessage(failed);
      await subject.put(message);
      const changes = Array.from({ length: 40 }, (_, index) =>
        (index % 2 ? subject.messages : subject.other).change(message.state.accountId, message.id, retry),
      );
      const results = await Promise.allSettled(changes);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'invalid_transition' });
      }
      expect((await stored(message))?.state).toMatchObject({ status: 'queued', retries: 1 });
      expect(await subject.stored()).toMatchObject({ 'outbox entry': [message.id] });
    });

    it.each([
      ['a status', {}, { status: 'cancelled' }, cancel, null],
      ['attempts', {}, { attempts: 1, failures: 1 }, cancel, { status: 'cancelled', attempts: 1, failures: 1 }],
      ['retries', failed, { retries: 1 }, retry, { status: 'queued', retries: 2 }],
    ] as const)(
      'sees %s that another process has changed since it was read',
      async (_what, before, meanwhile, change, after) => {
        const message = aMessage(before);
        await subject.put(message);
        const { commit } = await subject.changeUntilCommit(Message.restore({ ...message.state, ...meanwhile }));
        const changed = subject.messages
          .change(message.state.accountId, message.id, change)
          .catch((error: unknown) => (error as { code: string }).code);
        await subject.somebodyWaits();
        await commit();
        if (after === null) expect(await changed).toBe('invalid_transition');
        else expect(await changed).toMatchObject({ state: after });
        expect((await stored(message))?.state).toMatchObject(after ?? meanwhile);
      },
    );

    describe('retrying all that failed', () => {
      const accountId = anAccountId();
      const of = (ms: number, state: Partial<Message['state']> = {}) =>
        aMessage({ accountId, createdAt: after(ms), ...failed, ...state });
      beforeAll(() => subject.addEndpoint(accountId));
      const retryAll = async (since: number, until: number, max = 100_000, type: string | null = null) => {
        const filter = { type: readTypeFilter(type), since: after(since), until: after(until) };
        let started = 0;
        const onStarted = (deliveries: number) => (started += deliveries);
        const count = await subject.messages.retryFailed(accountId, filter, max, onStarted);
        expect(started).toBe(count);
        return count;
      };

      it('moves those of the account and the time, as one by one, each with a new job', async () => {
        const within = [of(0), of(1, { retries: 2, nextAttemptAt: after(60_000) }), of(999)];
        const others = [of(-1), of(1_000), of(5, { accountId: anAccountId() }), of(5, { status: 'delivered' })];
        for (const message of [...within, ...others]) await subject.put(message);
        expect(await retryAll(0, 1_000)).toBe(3);
        for (const message of within) {
          const now = await stored(message);
          expect(now).toEqual(at(message.retry(after(1)), now?.state.updatedAt));
        }
        for (const message of others) expect(await stored(message)).toEqual(message);
        expect(await subject.stored()).toMatchObject({ 'outbox entry': within.map(({ id }) => id).sort() });
        expect(await retryAll(0, 1_000)).toBe(0);
      });

      it.each([
        ['order.paid', ['order.paid']],
        ['order.*', ['order.paid', 'order.paid.late']],
        ['order.paid.*', ['order.paid.late']],
        ['a.b.c.d.*', ['a.b.c.d.e']],
        ['a.b.c.d.e.f.*', []],
      ])('moves only those of the type %s', async (type, moved) => {
        const types = ['order.paid', 'order.paid.late', 'orders', 'user', 'a.b.c.d.e', null];
        for (const one of types) await subject.put(of(0, { type: one }));
        expect(await retryAll(0, 1_000, 100_000, type)).toBe(moved.length);
        expect(await retryAll(0, 1_000)).toBe(types.length - moved.length);
      });

      it.each(['pull', 'webhooks'] as const)('moves those for %s without a job, as one by one', async (delivery) => {
        const [all, one] = [of(0, { delivery }), of(5_000, { delivery })];
        for (const message of [all, one]) await subject.put(message);
        expect(await retryAll(0, 1_000)).toBe(1);
        const onStarted = jest.fn();
        await subject.messages.change(accountId, one.id, retry, onStarted);
        expect(onStarted.mock.calls).toEqual([[1]]);
        for (const message of [all, one])
          expect((await stored(message))?.state).toMatchObject({ status: 'queued', retries: 1 });
        expect(await subject.stored()).toMatchObject({ 'outbox entry': [] });
        await subject.messages.change(accountId, one.id, cancel);
      });

      it('moves many, the oldest first, up to a limit', async () => {
        const all = Array.from({ length: 1_200 }, (_, index) => of(index));
        await Promise.all(all.map((message) => subject.put(message)));
        expect(await retryAll(0, 10_000, 700)).toBe(700);
        expect((await stored(all[699] ?? aMessage()))?.state.status).toBe('queued');
        expect((await stored(all[700] ?? aMessage()))?.state.status).toBe('failed');
        expect(await retryAll(0, 10_000)).toBe(500);
      });

      it('moves each once, also when two do so at once and one by one', async () => {
        const all = Array.from({ length: 300 }, (_, index) => of(index));
        await Promise.all(all.map((message) => subject.put(message)));
        const singly = all.map(({ id }) => subject.other.change(accountId, id, retry).then(...outcome));
        const counts = await Promise.all([retryAll(0, 10_000), retryAll(0, 10_000), ...singly]);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
        const retries = await Promise.all(all.map(async (message) => (await stored(message))?.state.retries));
        expect(new Set(retries)).toEqual(new Set([1]));
      });
    });

    it('either claims or cancels a message, never both', async () => {
      const all = messages(200);
      for (const message of all) await subject.put(message);
      const races = all.map(async (message, index) => {
        const claim = () => subject.deliveries.claim(jobOf(message), claimTerms());
        const call = () => subject.messages.change(message.state.accountId, message.id, cancel).catch(() => null);
        const first = index % 2 ? null : call();
        const [claimed, cancelled] = await Promise.all([claim(), first ?? call()]);
        expect([claimed === null, cancelled === null].sort()).toEqual([false, true]);
        expect((await stored(message))?.state).toMatchObject(
          cancelled === null
            ? { status: 'processing', attempts: 1 }
            : { status: 'cancelled', attempts: 0, claim: null },
        );
      });
      await Promise.all(races);
    });
  });
}
