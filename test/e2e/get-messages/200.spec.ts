import type { Page } from '#client/index.js';
import { accountForEach, expectStatus, sharedApi, type SentMessage } from '../../support/api.js';

describe('GET /messages responds 200', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  async function list(query = '', by = account): Promise<Page<SentMessage>> {
    const response = await api.ask(by, `GET /messages${query}`);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    return response.body as unknown as Page<SentMessage>;
  }

  /** Ids of all pages, in their order. */
  async function walk(
    query: string,
    betweenPages: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(cursor === '' ? query : `${query}&cursor=${cursor}`);
      expect(page.data).not.toHaveLength(0);
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
      await betweenPages();
    }
    return ids;
  }

  async function sendMany(count: number): Promise<string[]> {
    const response = await api.sendBatch(account, { messages: Array<string>(count).fill('hello') });
    return (expectStatus(202, response).data as SentMessage[]).map(({ id }) => id);
  }

  const newestFirst = (ids: string[]) => ids.toSorted().toReversed();

  it('with an empty list to an account without messages', async () => {
    expect(await list()).toEqual({ data: [], nextCursor: null });
  });

  it('with each message as it now is', async () => {
    const sent = await api.sent(account, { message: ' é 😀 ' });
    expect(await list()).toEqual({
      data: [
        {
          ...{ ...sent, delivery: 'handler', updatedAt: sent.createdAt },
          ...{ attempts: 0, failureReason: null, nextAttemptAt: null },
        },
      ],
      nextCursor: null,
    });
  });

  it.each([
    ['50 messages when no limit is given', '', 50],
    ['1 message', '?limit=1', 1],
    ['100 messages', '?limit=100', 100],
  ])('with a page of %s', async (_name, query, length) => {
    const ids = newestFirst(await sendMany(101));
    const page = await list(query);

    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, length));
    expect(page.nextCursor).toEqual(expect.any(String));
  });

  it.each([1, 7, 30, 31])('with pages of %i that hold each of 30 messages once', async (limit) => {
    const ids = newestFirst(await sendMany(30));
    expect(await walk(`?limit=${limit}`)).toEqual(ids);
  });

  it('with pages without gap or repeat while new messages arrive', async () => {
    const ids = newestFirst(await sendMany(30));
    expect(await walk('?limit=7', () => sendMany(5))).toEqual(ids);
  });

  it('with pages without gap or repeat while messages leave the status that is listed', async () => {
    const ids = newestFirst(await sendMany(12));
    let page = 0;
    const leave = () => api.become(ids[page++ * 4] ?? '', 'delivered');
    expect(await walk('?limit=4&status=queued', leave)).toEqual(ids);
  });

  it('with the messages of a status', async () => {
    const statuses = ['queued', 'processing', 'delivered', 'failed', 'cancelled'];
    const ids = newestFirst(await sendMany(15));
    for (const [index, id] of ids.entries()) await api.become(id, statuses[index % 5] ?? '');
    for (const [rest, status] of statuses.entries()) {
      const listed = await walk(`?limit=2&status=${status}`);
      expect(listed).toEqual(ids.filter((_id, index) => index % 5 === rest));
    }
  });

  it.each([
    ['order.paid', [1]],
    ['order.*', [1, 2]],
    ['order', [0]],
    ['sluice.*', []],
  ])('with the messages of type %s', async (type, expected) => {
    const ids: string[] = [];
    for (const kind of ['order', 'order.paid', 'order.sent', undefined]) {
      ids.push((await api.sent(account, { body: { message: 'hello', type: kind } })).id);
    }
    for (const more of ['', '&status=queued']) {
      const { data } = await list(`?type=${type}${more}`);
      expect(data.map(({ id }) => id)).toEqual(newestFirst(expected.map((index) => ids[index] ?? '')));
    }
  });

  it('with the messages that were accepted in a time span, to the millisecond', async () => {
    const { id, createdAt } = await api.sent(account, { body: { message: 'hello', type: 'order.paid' } });
    const at = (ms: number) => new Date(Date.parse(createdAt) + ms).toISOString();
    const inBerlin = `${new Date(Date.parse(createdAt) + 3_600_000).toISOString().slice(0, -1)}%2B01:00`;
    for (const type of ['', '&type=order.paid', '&type=order.*']) {
      const found = async (span: string) => (await list(`?${span}${type}`)).data.map((message) => message.id);
      expect(await found(`since=${at(0)}&until=${at(1)}`)).toEqual([id]);
      expect(await found(`since=${inBerlin}`)).toEqual([id]);
      expect(await found(`since=${at(1)}`)).toEqual([]);
      expect(await found(`until=${at(0)}`)).toEqual([]);
      expect(await found('until=1960-01-01T00:00:00Z')).toEqual([]);
      expect(await found('since=9999-12-31T23:59:59.999Z')).toEqual([]);
    }
  });

  it('without the messages of another account, even on from its cursor', async () => {
    const other = await api.signUp();
    await sendMany(3);
    const { nextCursor } = await list('?limit=1');

    expect(await list('', other)).toEqual({ data: [], nextCursor: null });
    expect(await list(`?cursor=${nextCursor ?? ''}`, other)).toEqual({ data: [], nextCursor: null });
  });

  it('with shorter pages where messages are large, without gap or repeat', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count++) ids.unshift((await api.sent(account, { message: 'x'.repeat(262_144) })).id);
    const { data, nextCursor } = await list('?limit=6');

    expect(data.map(({ id }) => id)).toEqual(ids.slice(0, 4));
    expect((await list(`?cursor=${nextCursor ?? ''}`)).data.map(({ id }) => id)).toEqual(ids.slice(4));
    expect(await walk('?limit=100')).toEqual(ids);
  });

  it.each([
    ['shorter', 'é😀', 'é😀'],
    ['as long', 'abc', 'abc'],
    ['longer, in ASCII', 'abcd', 'abc'],
    ['longer, in other characters', '😀😀é😀', '😀😀é'],
    ['longer, but composed', 'e\u0301e\u0301', 'e\u0301e'],
    ['of white space', '     ', '   '],
  ])('with the first three characters of a text that is %s', async (_how, message, shown) => {
    const sent = await api.sent(account, { body: { message, type: 'order.paid', metadata: { long: 'enough' } } });
    const listed = { ...sent, message: shown, ...(shown !== message && { truncated: true }) };
    for (const query of ['?preview=3', '?preview=3&type=order.*', '?preview=3&status=queued']) {
      const [found] = (await list(query)).data;
      expect(Object.keys(found ?? {}).includes('truncated')).toBe(shown !== message);
      expect(found).toMatchObject(listed);
    }
    expect((await list()).data).toEqual([expect.objectContaining({ ...sent, message })]);
  });

  it('with one page of large messages when only the beginning of their texts is asked for', async () => {
    const ids: string[] = [];
    for (let sent = 0; sent < 12; sent++) {
      const { id } = await api.sent(account, { message: `${sent} ${'😀'.repeat(50_000)}` });
      ids.unshift(id);
    }
    const { data, nextCursor } = await list('?limit=100&preview=1000');
    expect(data.map(({ id }) => id)).toEqual(ids);
    expect(data.map(({ message }) => Array.from(message).length)).toEqual(ids.map(() => 1_000));
    expect(nextCursor).toBeNull();
  });

  it('and ignores parameters that it does not know', async () => {
    const [id] = await sendMany(1);
    expect((await list('?page=2&__proto__=x&account_id=x&limit=1')).data.map((message) => message.id)).toEqual([id]);
  });
});
