import { setTimeout as sleep } from 'node:timers/promises';
import type { DomainError } from '#kernel/domain-error.js';
import type { Accepted } from '#messages/application/messages.js';
import type { Message } from '#messages/domain/message.js';
import { after, aMessage, anAccountId, idempotency, messages } from '../../support/messages.js';
import type { MessagesSubject } from './subject.js';

const DAY_MS = 24 * 3_600_000;

export function describeIdempotency(subject: MessagesSubject): void {
  describe('repeating requests', () => {
    /** The i-th of many requests, half of them through each process. */
    const add = (message: Message, key: string, index = 0) =>
      (index % 2 ? subject.other : subject.messages).add([message], idempotency(key));

    it.each([1, 50])('returns the first response of %d again, in any process, and stores nothing', async (count) => {
      const accountId = anAccountId();
      const first = messages(count, { accountId });
      await subject.messages.add(first, idempotency('key'));
      for (const process of [subject.messages, subject.other]) {
        const repeated = messages(count, { accountId, createdAt: after(5_000) });
        expect(await process.add(repeated, idempotency('key'))).toEqual({
          messages: first,
          deliveries: 0,
          replayed: true,
        });
      }
      const ids = first.map(({ id }) => id).sort();
      expect(await subject.stored()).toMatchObject({ message: ids, 'outbox entry': ids });
    });

    it('returns the response as it was, whatever has become of the message', async () => {
      const message = aMessage();
      await add(message, 'key');
      await subject.messages.change(message.state.accountId, message.id, (current) => current.cancel(after(1)));
      expect(await add(aMessage({ createdAt: after(2) }), 'key')).toEqual({
        messages: [message],
        deliveries: 0,
        replayed: true,
      });
    });

    it('refuses a key that was used for another request, and stores nothing', async () => {
      const first = aMessage();
      await subject.messages.add([first], idempotency('key', 'one request'));
      const reused = subject.messages.add([aMessage()], idempotency('key', 'another request'));
      await expect(reused).rejects.toMatchObject({ code: 'idempotency_key_reused' });
      expect(await subject.stored()).toMatchObject({ message: [first.id], 'outbox entry': [first.id] });
    });

    it('keeps the keys of accounts apart', async () => {
      const firsts = [aMessage({ accountId: anAccountId() }), aMessage({ accountId: anAccountId() })];
      for (const message of firsts)
        expect(await add(message, 'key')).toEqual({ messages: [message], deliveries: 0, replayed: false });
      for (const message of firsts) {
        const { accountId } = message.state;
        expect(await add(aMessage({ accountId }), 'key')).toEqual({
          messages: [message],
          deliveries: 0,
          replayed: true,
        });
      }
    });

    it.each([1, 5])('stores one of many concurrent requests of %d, and returns it to the others', async (count) => {
      const accountId = anAccountId();
      const all = Array.from({ length: 100 }, (_, index) => {
        const process = index % 2 ? subject.other : subject.messages;
        return process.add(messages(count, { accountId }), idempotency('key'));
      });
      const responses = await Promise.all(all);
      expectOneFirst(responses);
      const ids = responses[0]?.messages.map(({ id }) => id).sort();
      expect((await subject.stored()).message).toEqual(ids);
    });

    it('lets one request win when different ones come at once with one key', async () => {
      const all = requests(60).map((message, index) => {
        const process = index % 2 ? subject.other : subject.messages;
        return process.add([message], idempotency('key', `request ${index % 3}`));
      });
      const results = await Promise.allSettled(all);
      const accepted = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
      expect(accepted).toHaveLength(20);
      expectOneFirst(accepted);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'idempotency_key_reused' });
      }
    });

    it('lets two processes have the same keys in opposite order', async () => {
      const keys = Array.from({ length: 200 }, (_, index) => `key ${index}`);
      const byKey = new Map<string, Accepted[]>(keys.map((key) => [key, []]));
      for (let round = 0; round < 5; round++) {
        if (round === 4) await subject.slowDown();
        const accountId = anAccountId();
        const send = async (key: string, process: number) =>
          byKey.get(key)?.push(await add(aMessage({ accountId }), key, process));
        await Promise.all([...keys.map((key) => send(key, 0)), ...[...keys].reverse().map((key) => send(key, 1))]);
        for (const responses of byKey.values()) expectOneFirst(responses.splice(0));
      }
      expect((await subject.stored()).message).toHaveLength(5 * 200);
      expect(subject.faults()).toEqual([]);
    });

    it.each([
      ['returns the response of', 'commit', true],
      ['replaces', 'crash', false],
    ] as const)(
      'waits for a first request that is still running, and %s one whose end is a %s',
      async (_does, end, replayed) => {
        const [first, message] = [aMessage(), aMessage()];
        const stopped = await subject.stopWhileAdding(first, 'key');
        const repeated = add(message, 'key');
        await subject.somebodyWaits();
        await stopped[end]();
        expect(await repeated).toEqual({ messages: [replayed ? first : message], deliveries: 0, replayed });
      },
    );

    it('is unavailable when the store is lost meanwhile, and stores once what is then repeated', async () => {
      const stopped = await subject.stopWhileAdding(aMessage(), 'held');
      const all = requests(20);
      const unknown = Promise.allSettled(
        all.map((message, index) => add(message, index === 0 ? 'held' : `key ${index}`)),
      );
      await subject.somebodyWaits();
      await subject.cutOff();
      for (const result of await unknown) {
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
      }
      await stopped.crash();
      // As its callers do: a connection that was cut off may still pass for a good one when the first of them return.
      const repeat = async (message: Message, index: number): Promise<Accepted> => {
        try {
          return await add(message, `key ${index}`, index);
        } catch (error) {
          if ((error as DomainError).code !== 'unavailable') throw error;
          return repeat(message, index);
        }
      };
      const repeated = await Promise.all(requests(20).map(repeat));
      expect((await subject.stored()).message).toEqual(
        repeated.flatMap(({ messages: [message] }) => message?.id).sort(),
      );
    });

    it('lets requests without a key pass those that wait for a first request', async () => {
      const keys = ['one', 'two', 'three', 'four'];
      const stopped = await Promise.all(keys.map((key) => subject.stopWhileAdding(aMessage(), key)));
      // They would give up before they let others pass.
      const repeated = Promise.all(keys.flatMap((key) => requests(10).map((message) => add(message, key))));
      await subject.somebodyWaits();
      const plain = Promise.all(messages(100).map((message) => subject.messages.add([message], null)));
      await Promise.race([plain, repeated]);
      for (const process of stopped) await process.commit();
      expect((await repeated).every(({ replayed }) => replayed)).toBe(true);
      await plain;
    });

    it('reports after seconds of waiting that the key is in use, without failing its neighbours', async () => {
      const slow = await subject.stopWhileAdding(aMessage(), 'slow');
      const hanging = await subject.stopWhileAdding(aMessage(), 'hanging');
      const repeated = add(aMessage(), 'slow', 0);
      const inUse = add(aMessage(), 'hanging', 1).catch((error: unknown) => error);
      const neighbours = messages(10).map((message) => add(message, message.id, 1));
      await sleep(1_000);
      await slow.commit();
      expect(await repeated).toMatchObject({ deliveries: 0, replayed: true });
      expect((await Promise.all(neighbours)).some(({ replayed }) => replayed)).toBe(false);
      expect(await inUse).toMatchObject({ code: 'idempotency_key_in_use' });
      await hanging.crash();
      expect(await add(aMessage(), 'hanging')).toMatchObject({ deliveries: 0, replayed: false });
    });

    it('ignores a key from a day after its first use, not earlier, whatever the clock of the process', async () => {
      const first = aMessage();
      await add(first, 'key');
      await subject.ageKeys(DAY_MS - 60_000);
      expect(await add(aMessage({ createdAt: after(2 * DAY_MS) }), 'key')).toEqual({
        messages: [first],
        deliveries: 0,
        replayed: true,
      });
      await subject.ageKeys(60_000);
      const later = aMessage();
      expect(await add(later, 'key')).toEqual({ messages: [later], deliveries: 0, replayed: false });
      expect(await add(aMessage(), 'key')).toEqual({ messages: [later], deliveries: 0, replayed: true });
    });

    it('deletes expired keys, and not their messages', async () => {
      const [old, young] = [aMessage(), aMessage()];
      await add(old, 'old');
      await subject.ageKeys(DAY_MS);
      await add(young, 'young');
      expect(await subject.messages.deleteExpiredKeys()).toBe(false);
      const both = [old.id, young.id].sort();
      const stored = { message: both, 'outbox entry': both, 'idempotency record': [young.id] };
      expect(await subject.stored()).toEqual(stored);
    });
  });
}

/** Messages as of one request that is repeated. */
function requests(count: number): Message[] {
  return messages(count, { text: 'hello' });
}

/** One of them stored its messages, and all return those. */
function expectOneFirst(responses: readonly Accepted[]): void {
  const stored = responses.map((one) => one.messages);
  const first = responses.findIndex(({ replayed }) => !replayed);
  expect(responses.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(stored).toEqual(responses.map(() => stored[first]));
}
