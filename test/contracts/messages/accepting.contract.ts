import fc from 'fast-check';
import type { Message } from '#messages/domain/message.js';
import { anyText } from '../../support/any-text.js';
import {
  aMessage,
  anAccountId,
  anUnstorable,
  idempotency,
  messages,
  textOf,
  TRACEPARENT,
} from '../../support/messages.js';
import { NOTHING, type MessagesSubject, type Part } from './subject.js';

const refusals = (Object.keys(NOTHING) as Part[]).flatMap((part) =>
  (['at once', 'at commit'] as const).flatMap((when) => [1, 300].map((count) => ({ part, when, count }))),
);

export function describeAccepting(subject: MessagesSubject): void {
  describe('accepting messages', () => {
    const aBatch = (count: number) => messages(count, { accountId: anAccountId() });
    const idsOf = (batch: readonly Message[]) => batch.map(({ id }) => id).sort();
    const firstOf = (batch: readonly Message[]) => batch[0]?.id ?? '';

    it.each([1, 3])('stores %d with outbox entry and one idempotency record before it resolves', async (count) => {
      const [plain, keyed] = [aBatch(count), aBatch(count)];
      expect(await subject.messages.add(plain, null)).toEqual({ messages: plain, deliveries: 0, replayed: false });
      const stored = { ...NOTHING, message: idsOf(plain), 'outbox entry': idsOf(plain) };
      expect(await subject.stored()).toEqual(stored);
      const accepted = await subject.messages.add(keyed, idempotency('key'));
      expect(accepted).toEqual({ messages: keyed, deliveries: 0, replayed: false });
      const all = idsOf([...plain, ...keyed]);
      const record = [firstOf(keyed)];
      expect(await subject.stored()).toEqual({ message: all, 'outbox entry': all, 'idempotency record': record });
      for (const message of keyed) {
        expect(await subject.other.find(message.state.accountId, message.id)).toEqual(message);
      }
    });

    it('stores messages of other modes of delivery beside those for handlers, and only these with an outbox entry', async () => {
      const accountId = anAccountId();
      const [pulled, posted] = [
        messages(2, { accountId, delivery: 'pull' }),
        messages(1, { accountId, delivery: 'webhooks' }),
      ];
      const handled = aBatch(2);
      const all = [...pulled, ...posted, ...handled];
      await Promise.all([handled, pulled].map((batch, index) => subject.messages.add(batch, idempotency(`${index}`))));
      for (let endpoints = 2; endpoints > 0; endpoints--) await subject.addEndpoint(accountId);
      const accepted = { messages: posted, deliveries: 2, replayed: false };
      expect(await subject.messages.add(posted, idempotency('posted'))).toEqual(accepted);
      expect(await subject.stored()).toMatchObject({ message: idsOf(all), 'outbox entry': idsOf(handled) });
      for (const message of all) expect(await subject.other.find(message.state.accountId, message.id)).toEqual(message);
    });

    it('accepts no batch without messages', async () => {
      await expect(subject.messages.add([], null)).rejects.toThrow('at least one message');
    });

    it.each(refusals)(
      'stores nothing of a request of $count when the $part of one is refused $when, and the key stays free',
      async ({ part, when, count }) => {
        const [bad, next, neighbour] = [aBatch(count), aBatch(300), aBatch(2)];
        const refused = bad[part === 'idempotency record' ? 0 : Math.floor(count / 2)] ?? aMessage();
        await subject.refuse(part, refused, when);
        const [rejected, ...others] = await Promise.allSettled(
          [bad, next, neighbour].map((batch, index) => subject.messages.add(batch, idempotency(`key ${index}`))),
        );
        expect(rejected).toMatchObject({ status: 'rejected', reason: { message: 'refused by the test' } });
        expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
        const good = idsOf([...next, ...neighbour]);
        const records = [firstOf(next), firstOf(neighbour)].sort();
        const stored = { message: good, 'outbox entry': good, 'idempotency record': records };
        expect(await subject.stored()).toEqual(stored);
        await subject.relent();
        const repeated = await subject.messages.add(bad, idempotency('key 0'));
        expect(repeated).toEqual({ messages: bad, deliveries: 0, replayed: false });
      },
    );

    it.each([false, true])('rejects only requests that cannot be stored of many at once (keys: %s)', async (keyed) => {
      const [unstorable, refused] = [anUnstorable(), aMessage()];
      await subject.refuse('outbox entry', refused);
      const bad = [[unstorable], [refused], [...aBatch(10), anUnstorable(), ...aBatch(10)]];
      const good = [...messages(100).map((message) => [message]), aBatch(20)];
      const all = [...good.slice(0, 50), ...bad, ...good.slice(50)];
      const results = await Promise.allSettled(
        all.map((batch) => subject.messages.add(batch, keyed ? idempotency(firstOf(batch)) : null)),
      );
      expect(all.filter((_, index) => results[index]?.status === 'rejected')).toEqual(bad);
      const ids = idsOf(good.flat());
      const records = keyed ? good.map(firstOf).sort() : [];
      expect(await subject.stored()).toEqual({ message: ids, 'outbox entry': ids, 'idempotency record': records });
    });

    it('returns each text and trace as it came', async () => {
      const accountId = anAccountId();
      await fc.assert(
        fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 50 }), async (texts) => {
          const sent = texts.map((text) => aMessage({ text, accountId, traceparent: TRACEPARENT }));
          await Promise.all(sent.map((message) => subject.messages.add([message], null)));
          const found = await Promise.all(sent.map(({ id }) => subject.other.find(accountId, id)));
          expect(found).toEqual(sent);
        }),
        { numRuns: 20 },
      );
    });

    it('reports a first request as the first, although what came with it made it be repeated', async () => {
      const [first, accountId] = [aBatch(3), anAccountId()];
      await subject.failNextLookUp();
      await subject.messages.add([aMessage({ accountId })], idempotency('used'));
      const [batch, replay] = await Promise.all([
        subject.messages.add(first, idempotency('key')),
        subject.messages.add([aMessage({ accountId })], idempotency('used')),
      ]);
      expect(batch).toEqual({ messages: first, deliveries: 0, replayed: false });
      expect(replay.replayed).toBe(true);
      expect((await subject.stored()).message).toHaveLength(4);
    });

    it('accepts many of the largest batches at once', async () => {
      const batches = Array.from({ length: 20 }, () => [...messages(3, { text: textOf() }), ...aBatch(900)]);
      await Promise.all(batches.map((batch) => subject.messages.add(batch, null)));
      expect((await subject.stored()).message).toEqual(idsOf(batches.flat()));
    });
  });
}
