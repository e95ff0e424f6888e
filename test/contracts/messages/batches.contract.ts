import { after, aMessage, anAccountId, anUnstorable, idempotency, messages, textOf } from '../../support/messages.js';
import { NOTHING, type MessagesSubject, type Part } from './subject.js';

const parts = Object.keys(NOTHING) as Part[];

export function describeBatches(current: () => MessagesSubject): void {
  describe('taking batches in', () => {
    let subject: MessagesSubject;
    beforeEach(() => {
      subject = current();
    });

    const aBatch = (count = 3, createdAt = after(0)) => {
      const accountId = anAccountId();
      return messages(count, { accountId, createdAt });
    };
    const idsOf = (batch: ReturnType<typeof aBatch>) => batch.map(({ id }) => id).sort();

    it('stores all messages with one record before it resolves, and tells them in their order', async () => {
      const [plain, keyed] = [aBatch(), aBatch()];
      expect(await subject.messages.addBatch(plain, null)).toEqual({ messages: plain, replayed: false });
      const accepted = await subject.messages.addBatch(keyed, idempotency('key'));
      expect(accepted).toEqual({ messages: keyed, replayed: false });
      const all = idsOf([...plain, ...keyed]);
      expect(await subject.stored()).toEqual({
        message: all,
        'outbox entry': all,
        'idempotency record': [keyed[0]?.id],
      });
    });

    it('takes no batch without messages', async () => {
      await expect(subject.messages.addBatch([], null)).rejects.toThrow('at least one message');
    });

    it.each(parts.flatMap((part) => (['at once', 'at commit'] as const).map((when) => ({ part, when }))))(
      'stores nothing of a batch when the $part of one message is refused $when, but all that came with it',
      async ({ part, when }) => {
        const [bad, next, neighbour] = [aBatch(300), aBatch(300), aBatch(2)];
        const [first, middle] = [bad[0], bad[150]];
        if (first === undefined || middle === undefined) throw new Error('There are many.');
        await subject.refuse(part, part === 'idempotency record' ? first : middle, when);
        const [refused, ...others] = await Promise.allSettled([
          subject.messages.addBatch(bad, idempotency('key')),
          subject.messages.addBatch(next, idempotency('next')),
          subject.messages.addBatch(neighbour, idempotency('neighbour')),
        ]);
        expect(refused).toMatchObject({ status: 'rejected' });
        expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
        const good = idsOf([...next, ...neighbour]);
        expect(await subject.stored()).toEqual({
          message: good,
          'outbox entry': good,
          'idempotency record': [next[0]?.id, neighbour[0]?.id].sort(),
        });
        await subject.relent();
        expect(await subject.messages.addBatch(bad, idempotency('key'))).toEqual({ messages: bad, replayed: false });
      },
    );

    it('stores nothing of a batch with one message that can not be stored', async () => {
      const [good, single] = [aBatch(20), aMessage()];
      const bad = [...aBatch(10), anUnstorable(), ...aBatch(10)];
      const [refused] = await Promise.allSettled([
        subject.messages.addBatch(bad, null),
        subject.messages.addBatch(good, null),
        subject.messages.add(single, null),
      ]);
      expect(refused.status).toBe('rejected');
      expect((await subject.stored()).message).toEqual(idsOf([...good, single]));
    });

    it('gives the first answer again, in its order, and stores nothing', async () => {
      const first = aBatch(50);
      const repeated = messages(50, { accountId: first[0]?.state.accountId ?? '', createdAt: after(5_000) });
      await subject.messages.addBatch(first, idempotency('key'));
      for (const process of [subject.messages, subject.other]) {
        const answer = await process.addBatch(repeated, idempotency('key'));
        expect(answer).toEqual({ messages: first, replayed: true });
      }
      expect((await subject.stored()).message).toEqual(idsOf(first));
    });

    it('stores one of many equal batches that come at once, through two processes', async () => {
      const accountId = anAccountId();
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => {
          const process = index % 2 ? subject.other : subject.messages;
          return process.addBatch(messages(5, { accountId }), idempotency('key'));
        }),
      );
      const firsts = answers.filter(({ replayed }) => !replayed);
      expect(firsts).toHaveLength(1);
      for (const answer of answers) expect(answer.messages).toEqual(firsts[0]?.messages);
      expect((await subject.stored()).message).toHaveLength(5);
    });

    it('tells a first request of itself as the first, although what came with it made it be repeated', async () => {
      const first = aBatch();
      await subject.failNextLookUp();
      const accountId = anAccountId();
      await subject.messages.add(aMessage({ accountId }), idempotency('used'));
      const [batch, replay] = await Promise.all([
        subject.messages.addBatch(first, idempotency('key')),
        subject.messages.add(aMessage({ accountId }), idempotency('used')),
      ]);
      expect(batch).toEqual({ messages: first, replayed: false });
      expect(replay.replayed).toBe(true);
      expect((await subject.stored()).message).toHaveLength(4);
    });

    it('takes many of the largest batches at once', async () => {
      const batches = Array.from({ length: 20 }, () => [
        ...aBatch(3).map(({ state }) => aMessage({ ...state, text: textOf() })),
        ...aBatch(900),
      ]);
      await Promise.all(batches.map((batch) => subject.messages.addBatch(batch, null)));
      expect((await subject.stored()).message).toEqual(idsOf(batches.flat()));
    });
  });
}
