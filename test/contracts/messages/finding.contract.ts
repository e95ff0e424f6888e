import { after, aMessage, anAccountId, claim, FIRST_PAGE, messages } from '../../support/messages.js';
import type { MessagesSubject } from './subject.js';

const TO_HANDLER = { target: 'handler', responseStatus: null, responseBody: null };

export function describeFinding(subject: MessagesSubject): void {
  describe('finding messages', () => {
    it('finds a message of the account, with all that is known of it', async () => {
      const counts = { attempts: 7, failures: 3, crashes: 2, loneCrashes: 1, retries: 1 };
      const [fresh, failed] = [aMessage(), aMessage({ status: 'failed', ...counts, failureReason: 'x' })];
      for (const message of [fresh, failed]) {
        await subject.put(message);
        expect(await subject.messages.find(message.state.accountId, message.id)).toEqual(message);
      }
    });

    it('finds no message of another account, none that does not exist, and nothing for an invalid id', async () => {
      const message = aMessage();
      await subject.put(message);
      expect(await subject.messages.find(anAccountId(), message.id)).toBeNull();
      const others = [aMessage().id, '', 'msg_', '\u0000', `${message.id}\u0000`, message.id.toUpperCase(), "' OR 1=1"];
      for (const id of others) {
        expect(await subject.messages.find(message.state.accountId, id)).toBeNull();
      }
    });

    describe('attempts', () => {
      it('are none of a new message, and null of one that the account does not have', async () => {
        const message = aMessage();
        await subject.put(message);
        const { accountId } = message.state;
        expect(await subject.messages.attempts(accountId, message.id)).toEqual([]);
        expect(await subject.messages.attempts(anAccountId(), message.id)).toBeNull();
        for (const id of [aMessage().id, '', '\u0000'])
          expect(await subject.messages.attempts(accountId, id)).toBeNull();
      });

      it('end with the one that runs, in the order of their numbers', async () => {
        const message = aMessage();
        await subject.put(message);
        const { accountId } = message.state;
        const attempts = () => subject.other.attempts(accountId, message.id);
        for (let round = 1; round <= 11; round++) {
          const claimed = await claim(subject.deliveries, message);
          const { updatedAt: startedAt } = claimed.state;
          const running = {
            number: round,
            startedAt,
            durationMs: null,
            outcome: 'running',
            error: null,
            ...TO_HANDLER,
          };
          expect((await attempts())?.at(-1)).toEqual(running);
          await subject.deliveries.settle(claimed, claimed.requeue('again', after(0)));
        }
        const all = (await attempts()) ?? [];
        expect(all.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        expect(all.map(({ outcome }) => outcome)).toEqual(Array(11).fill('retried'));
      });
    });

    it('lists the messages of an account, newest first, page by page', async () => {
      const accountId = anAccountId();
      const sent = Array.from({ length: 7 }, (_, index) => aMessage({ accountId, createdAt: after(index) }));
      for (const message of [...sent, aMessage()]) await subject.put(message);
      const newestFirst = sent.map(({ id }) => id).reverse();
      const ids = async (limit: number, before: string | null) =>
        (await subject.messages.list(accountId, { ...FIRST_PAGE, limit, before })).messages.map(({ id }) => id);
      expect(await ids(100, null)).toEqual(newestFirst);
      expect(await ids(3, null)).toEqual(newestFirst.slice(0, 3));
      expect(await ids(3, newestFirst[2] ?? '')).toEqual(newestFirst.slice(3, 6));
      expect(await ids(3, newestFirst[5] ?? '')).toEqual(newestFirst.slice(6));
      expect(await ids(3, newestFirst[6] ?? '')).toEqual([]);
    });

    it('lists those of one status', async () => {
      const accountId = anAccountId();
      const all = [...messages(3, { accountId }), ...messages(2, { accountId, status: 'failed' })];
      for (const message of all) await subject.put(message);
      for (const status of ['queued', 'failed', 'delivered'] as const) {
        const expected = all.filter(({ state }) => state.status === status).map(({ id }) => id);
        const { messages: listed } = await subject.messages.list(accountId, { ...FIRST_PAGE, status });
        expect(listed.map(({ id }) => id)).toEqual(expected.sort().reverse());
      }
    });
  });
}
