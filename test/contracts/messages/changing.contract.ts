import { Message } from '#messages/domain/message.js';
import { aClaim, after, aMessage, anAccountId, claimTerms, jobOf, messages } from '../../support/messages.js';
import { NOTHING, type MessagesSubject } from './subject.js';

const cancel = (message: Message) => message.cancel(after(1));
const retry = (message: Message) => message.retry(after(1));
/** A message as the store changed it, at a time of its own. */
const at = (message: Message | null, updatedAt = message?.state.updatedAt) =>
  message === null || updatedAt === undefined ? null : Message.restore({ ...message.state, updatedAt });
const failed = { status: 'failed', attempts: 5, failures: 5, crashes: 2, loneCrashes: 1, failureReason: 'x' } as const;

export function describeChanging(current: () => MessagesSubject): void {
  describe('changing messages', () => {
    let subject: MessagesSubject;
    beforeEach(() => {
      subject = current();
    });
    const stored = ({ id, state }: Message) => subject.other.find(state.accountId, id);

    it('moves a message by its own method, and no other', async () => {
      const [message, bystander] = messages(2);
      if (message === undefined || bystander === undefined) throw new Error('There are two.');
      await subject.put(message);
      await subject.put(bystander);
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

    it('changes nothing when the message refuses, and says why', async () => {
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

    it('lets either a worker or who cancels have a message, never both', async () => {
      const all = messages(200);
      for (const message of all) await subject.put(message);
      const races = all.map(async (message, index) => {
        const claim = () => subject.deliveries.claim(jobOf(message), claimTerms());
        const call = () => subject.messages.change(message.state.accountId, message.id, cancel).catch(() => null);
        const [claimed, cancelled] = index % 2 ? await both(claim, call) : (await both(call, claim)).reverse();
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

function both<T>(first: () => Promise<T>, second: () => Promise<T>): Promise<T[]> {
  return Promise.all([first(), second()]);
}
