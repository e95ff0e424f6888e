import { after, aMessage, anAccountId, messages } from '../../support/messages.js';
import type { MessagesSubject } from './subject.js';

const page = { limit: 100, before: null, status: null };

export function describeFinding(current: () => MessagesSubject): void {
  describe('finding messages', () => {
    let subject: MessagesSubject;
    beforeEach(() => {
      subject = current();
    });

    it('finds a message of the account, with all that is known of it', async () => {
      const [fresh, failed] = [
        aMessage(),
        aMessage({
          status: 'failed',
          attempts: 7,
          failures: 3,
          crashes: 2,
          loneCrashes: 1,
          retries: 1,
          failureReason: 'x',
        }),
      ];
      for (const message of [fresh, failed]) {
        await subject.put(message);
        expect(await subject.messages.find(message.state.accountId, message.id)).toEqual(message);
      }
    });

    it('finds neither what another account has, nor what nobody has, nor what is no id', async () => {
      const message = aMessage();
      await subject.put(message);
      expect(await subject.messages.find(anAccountId(), message.id)).toBeNull();
      for (const id of [
        aMessage().id,
        '',
        'msg_',
        '\u0000',
        `${message.id}\u0000`,
        message.id.toUpperCase(),
        "' OR 1=1",
      ]) {
        expect(await subject.messages.find(message.state.accountId, id)).toBeNull();
      }
    });

    it('lists the messages of an account, newest first, page by page', async () => {
      const accountId = anAccountId();
      const sent = Array.from({ length: 7 }, (_, index) => aMessage({ accountId, createdAt: after(index) }));
      for (const message of [...sent, aMessage()]) await subject.put(message);
      const newestFirst = sent.map(({ id }) => id).reverse();
      const ids = async (limit: number, before: string | null) =>
        (await subject.messages.list(accountId, { ...page, limit, before })).map(({ id }) => id);
      expect(await ids(100, null)).toEqual(newestFirst);
      expect(await ids(3, null)).toEqual(newestFirst.slice(0, 3));
      expect(await ids(3, newestFirst[2] ?? '')).toEqual(newestFirst.slice(3, 6));
      expect(await ids(3, newestFirst[5] ?? '')).toEqual(newestFirst.slice(6));
      expect(await ids(3, newestFirst[6] ?? '')).toEqual([]);
    });

    it('lists those of one status', async () => {
      const accountId = anAccountId();
      const queued = messages(3, { accountId });
      const failed = messages(2, { accountId, status: 'failed' });
      for (const message of [...queued, ...failed]) await subject.put(message);
      const list = (status: 'queued' | 'failed' | 'delivered') => subject.messages.list(accountId, { ...page, status });
      expect((await list('queued')).map(({ id }) => id)).toEqual(
        queued
          .map(({ id }) => id)
          .sort()
          .reverse(),
      );
      expect((await list('failed')).map(({ id }) => id)).toEqual(
        failed
          .map(({ id }) => id)
          .sort()
          .reverse(),
      );
      expect(await list('delivered')).toEqual([]);
    });
  });
}
