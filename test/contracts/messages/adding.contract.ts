import fc from 'fast-check';
import type { Message } from '#messages/domain/message.js';
import {
  aMessage,
  anAccountId,
  anUnstorable,
  anyText,
  idempotency,
  messages,
  TRACEPARENT,
} from '../../support/messages.js';
import { NOTHING, type MessagesSubject, type Part } from './subject.js';

const parts = Object.keys(NOTHING) as Part[];

export function describeAdding(current: () => MessagesSubject): void {
  describe('accepting messages', () => {
    let subject: MessagesSubject;
    beforeEach(() => {
      subject = current();
    });

    it('stores a message with its outbox entry and its idempotency record before it resolves', async () => {
      const [plain, keyed] = [aMessage(), aMessage()];
      expect(await subject.messages.add(plain, null)).toEqual({ message: plain, replayed: false });
      expect(await subject.stored()).toEqual({ ...NOTHING, message: [plain.id], 'outbox entry': [plain.id] });
      expect(await subject.messages.add(keyed, idempotency('key'))).toEqual({ message: keyed, replayed: false });
      const both = [plain.id, keyed.id].sort();
      expect(await subject.stored()).toEqual({
        message: both,
        'outbox entry': both,
        'idempotency record': [keyed.id],
      });
      expect(await subject.other.find(keyed.state.accountId, keyed.id)).toEqual(keyed);
    });

    it.each(parts.flatMap((part) => (['at once', 'at commit'] as const).map((when) => ({ part, when }))))(
      'stores nothing at all when the $part is refused $when, and the key stays free',
      async ({ part, when }) => {
        const [refused, next] = [aMessage(), aMessage()];
        await subject.refuse(part, refused, when);
        await expect(subject.messages.add(refused, idempotency('key'))).rejects.toThrow('refused by the test');
        expect(await subject.stored()).toEqual(NOTHING);
        expect(await subject.messages.add(next, idempotency('key'))).toEqual({ message: next, replayed: false });
      },
    );

    it('lets a bad message fail alone among those that arrive with it', async () => {
      const [before, unstorable, without, after] = [messages(50), anUnstorable(), aMessage(), messages(50)];
      await subject.refuse('outbox entry', without);
      const all = [...before, unstorable, without, ...after];
      const results = await Promise.allSettled(all.map((message) => subject.messages.add(message, null)));
      const failed = all.filter((_, index) => results[index]?.status === 'rejected');
      expect(failed).toEqual([unstorable, without]);
      const good = [...before, ...after].map(({ id }) => id).sort();
      expect(await subject.stored()).toEqual({ ...NOTHING, message: good, 'outbox entry': good });
    });

    it('lets a bad message fail alone among those with keys, too', async () => {
      const all = [...messages(20), anUnstorable(), ...messages(20)];
      const add = (message: Message) => subject.messages.add(message, idempotency(message.id));
      const results = await Promise.allSettled(all.map(add));
      expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      const good = all.filter((_, index) => index !== 20).map(({ id }) => id);
      expect(await subject.stored()).toEqual(Object.fromEntries(parts.map((part) => [part, good.sort()])));
    });

    it('gives each text and trace back as it came', async () => {
      const accountId = anAccountId();
      await fc.assert(
        fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 50 }), async (texts) => {
          const sent = texts.map((text) => aMessage({ text, accountId, traceparent: TRACEPARENT }));
          await Promise.all(sent.map((message) => subject.messages.add(message, null)));
          const found = await Promise.all(sent.map(({ id }) => subject.other.find(accountId, id)));
          expect(found).toEqual(sent);
        }),
        { numRuns: 20 },
      );
    });
  });
}
