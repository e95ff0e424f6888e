import { accountForEach, sharedApi } from '../../support/api.js';
import type { Answer } from '../../support/http.js';

describe('POST /messages with an Idempotency-Key responds 202', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const sendWithKey = (key: string, sending = {}) =>
    api.send(account, { headers: { 'idempotency-key': key }, ...sending });
  const ageKeys = (age: string) =>
    api.sql(`UPDATE sluice.idempotency_keys SET created_at = created_at - $2::interval WHERE account_id = $1`, [
      account.id,
      age,
    ]);

  function expectReplay(answer: Answer, first: Answer): void {
    expect(answer.status).toBe(202);
    expect(answer.headers['idempotent-replayed']).toBe('true');
    expect(answer.headers.location).toBe(first.headers.location);
    expect(answer.bytes.equals(first.bytes)).toBe(true);
  }

  it('to the same request again with the bytes of the first answer, and creates nothing', async () => {
    const first = await sendWithKey('key', { message: ' é 😀 ' });
    const second = await sendWithKey('key', { message: ' é 😀 ' });

    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expectReplay(second, first);
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 1 });
  });

  it.each(['processing', 'delivered', 'failed'])(
    'with the first answer when the message is %s by now',
    async (status) => {
      const first = await sendWithKey('key');
      await api.become(first.headers.location?.slice('/messages/'.length) ?? '', status);

      expectReplay(await sendWithKey('key'), first);
    },
  );

  it('with the first answer when the message is cancelled by now', async () => {
    const first = await sendWithKey('key');
    await api.ask(account, `POST ${first.headers.location ?? ''}/cancel`);

    expectReplay(await sendWithKey('key'), first);
  });

  it('to the same message in another layout of JSON', async () => {
    const first = await sendWithKey('key', { body: '{"message":"A"}' });
    expectReplay(await sendWithKey('key', { body: '{ "message": "\\u0041", "more": 1 }' }), first);
  });

  it('to 50 parallel requests with one key, which create one message', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => sendWithKey('key')));
    const originals = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(originals).toHaveLength(1);
    expect(new Set(answers.map(({ bytes }) => bytes.toString())).size).toBe(1);
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 1 });
  });

  it('to both of two accounts that use the same key, with messages of their own', async () => {
    const other = await api.signUp();
    const mine = await sendWithKey('key');
    const theirs = await api.send(other, { headers: { 'idempotency-key': 'key' } });

    expect(theirs.status).toBe(202);
    expect(theirs.headers).not.toHaveProperty('idempotent-replayed');
    expect(theirs.headers.location).not.toBe(mine.headers.location);
  });

  it('to keys that differ in case only, with messages of their own', async () => {
    await sendWithKey('key');
    await sendWithKey('KEY');
    expect(await api.stored(account)).toEqual({ messages: 2, keys: 2 });
  });

  it.each(['k', '~'.repeat(255), `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`])('to the key %s', async (key) => {
    const first = await sendWithKey(key);
    expectReplay(await sendWithKey(key), first);
  });

  it.each([
    ['400', { body: '{"message":""}' }],
    ['413', { body: '{"message":"x"}'.padEnd(1_048_577) }],
    ['415', { headers: { 'idempotency-key': 'key', 'content-encoding': 'gzip' } }],
  ])('with a new message when the first request with the key was answered %s', async (status, sending) => {
    expect((await sendWithKey('key', sending)).status).toBe(Number(status));

    const answer = await sendWithKey('key');
    expect(answer.status).toBe(202);
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('with a new message to another request when the key was first used more than 24 hours ago', async () => {
    await sendWithKey('key', { message: 'old' });
    await ageKeys('24 hours 1 second');
    const answer = await sendWithKey('key', { message: 'new' });

    expect(answer.status).toBe(202);
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
    expectReplay(await sendWithKey('key', { message: 'new' }), answer);
    expect(await api.stored(account)).toEqual({ messages: 2, keys: 1 });
  });

  it('with one new message to parallel requests whose key has lapsed', async () => {
    await sendWithKey('key');
    await ageKeys('25 hours');
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendWithKey('key')));

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
    expect(await api.stored(account)).toEqual({ messages: 2, keys: 1 });
  });

  it('as a replay when the key was first used less than 24 hours ago', async () => {
    const first = await sendWithKey('key');
    await ageKeys('23 hours 59 minutes');
    const answer = await sendWithKey('key');

    expect(answer.headers['idempotent-replayed']).toBe('true');
    expect(answer.headers.location).toBe(first.headers.location);
  });
});
