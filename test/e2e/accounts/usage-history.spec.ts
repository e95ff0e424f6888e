import { UuidV7Ids } from '#kernel/ids.js';
import { accountOf, expectProblem, OPERATOR, pageOf, sharedApi, type Account, type Key } from '../../support/api.js';

interface Period {
  readonly start: string;
  readonly accountId?: string;
  readonly accepted: number;
}

const ids = new UuidV7Ids();

/** Of no other test, over, and not so old that it is removed. */
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const DAY = daysAgo(201);
const NEXT_DAY = daysAgo(200);
const at = (day: string, hour: number) => `${day}T${String(hour).padStart(2, '0')}:00:00.000Z`;
const SPAN = `since=${at(DAY, 0)}&until=${at(NEXT_DAY, 23)}`;

describe('The usage history', () => {
  const api = sharedApi();
  const [owner, stranger] = [accountOf(api), accountOf(api)];

  const count = (accountId: string, start: string, accepted: number) =>
    api.sql(
      `INSERT INTO sluice.usage (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled)
       VALUES ($1, $2, $3::bigint, $3::bigint * 10, $3::bigint - 2, 1, 1)`,
      [accountId, start, accepted],
    );
  const ask = (key: Key, route: string, query = '', headers = {}) =>
    api.ask(key, `GET ${route}${query === '' ? '' : `?${query}`}`, undefined, headers);
  const OWN = '/account/usage/history';

  beforeAll(async () => {
    for (const [hour, accepted] of [
      [0, 10],
      [23, 20],
    ] as const) {
      await count(owner.id, at(DAY, hour), accepted);
      await count(owner.id, at(NEXT_DAY, hour), accepted + 5);
    }
    await count(stranger.id, at(DAY, 0), 1_000);
  });

  const shown = (start: string, accepted: number, of = 1) => ({
    ...{ start, accepted, acceptedBytes: accepted * 10, delivered: accepted - 2 * of, failed: of, cancelled: of },
  });

  it('responds 200 with hours, oldest first', async () => {
    const response = await ask(owner, OWN, 'by=hour');
    expect(response.status).toBe(200);
    expect(response.headers.vary).toBe('Accept');
    expect(response.body).toEqual({
      data: [shown(at(DAY, 0), 10), shown(at(DAY, 23), 20), shown(at(NEXT_DAY, 0), 15), shown(at(NEXT_DAY, 23), 25)],
      nextCursor: null,
    });
  });

  it('responds 200 with days by default', async () => {
    const days = { data: [shown(at(DAY, 0), 30, 2), shown(at(NEXT_DAY, 0), 40, 2)], nextCursor: null };
    for (const query of ['', 'by=day']) expect((await ask(owner, OWN, query)).body).toEqual(days);
  });

  it.each([
    ['by=hour', `since=${at(DAY, 23)}&until=${at(NEXT_DAY, 23)}`, [20, 15]],
    ['by=hour', `since=${DAY}T22:00:00.001Z&until=${DAY}T23:00:00.001Z`, [20]],
    ['by=hour', `since=${DAY}T23:59:00%2B01:00`, [20, 15, 25]],
    ['by=day', `since=${DAY}T00:00:00.001Z`, [40]],
    ['by=day', `until=${NEXT_DAY}T00:00:00.001Z`, [30, 40]],
    ['by=day', `until=${NEXT_DAY}T00:00:00Z`, [30]],
    ['by=day', 'until=9999-12-31T23:59:59.999Z', [30, 40]],
    ['by=day', 'since=9999-12-31T00:00:00Z&until=9999-12-31T23:59:59.999Z', []],
    ['by=day', 'since=9999-12-31T23:59:59.999Z', []],
    ['by=hour', 'until=0001-01-01T00:00:00Z', []],
  ])('of a part, whole periods that start within it: %s&%s', async (by, span, expected) => {
    const { data } = pageOf<Period>(await ask(owner, OWN, `${by}&${span}`));
    expect(data.map(({ accepted }) => accepted)).toEqual(expected);
  });

  it('belongs to the account, or to any that operators name, also one that is gone', async () => {
    expect((await ask(stranger, OWN, 'by=day')).body.data).toEqual([shown(at(DAY, 0), 1_000)]);
    const gone = ids.next('acct', new Date());
    await count(gone, at(DAY, 5), 7);
    const admin = (id: string) => ask(OPERATOR, `/admin/accounts/${id}/usage/history`, 'by=hour');
    expect((await admin(gone)).body.data).toEqual([shown(at(DAY, 5), 7)]);
    expect((await admin(owner.id)).body).toEqual((await ask(owner, OWN, 'by=hour')).body);
    expect((await admin((await api.signUp()).id)).body).toEqual({ data: [], nextCursor: null });
    for (const id of [ids.next('acct', new Date()), 'acct_x', 'x', owner.keyId]) {
      expectProblem(await admin(id), 404, 'account_not_found');
    }
  });

  it.each(['hour', 'day'])('of all accounts has pages of any size, by %s', async (by) => {
    const start = daysAgo(by === 'hour' ? 301 : 302);
    const accounts = Array.from({ length: 25 }, () => ids.next('acct', new Date())).sort();
    for (const hour of [3, 4]) {
      await api.sql(
        `INSERT INTO sluice.usage (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled)
         SELECT id, $2, 5, 50, 3, 1, 1 FROM unnest($1::text[]) AS id`,
        [accounts, at(start, hour)],
      );
    }
    const span = `since=${start}T00:00:00Z&until=${start}T23:59:59Z`;
    const expected =
      by === 'hour'
        ? [3, 4].flatMap((hour) => accounts.map((id) => [at(start, hour), id, 5]))
        : accounts.map((id) => [at(start, 0), id, 10]);
    for (const limit of [1, 7, 25, 100]) {
      const found: Period[] = [];
      let cursor = '';
      do {
        const page = await ask(OPERATOR, '/admin/usage', `by=${by}&${span}&limit=${limit}${cursor}`);
        const { data, nextCursor } = pageOf<Period>(page);
        expect(data.length).toBeLessThanOrEqual(limit);
        found.push(...data);
        cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`;
      } while (cursor !== '');
      expect(found.map(({ start: at, accountId, accepted }) => [at, accountId, accepted])).toEqual(expected);
    }
    const pages = await ask(OPERATOR, '/admin/usage', `by=${by}&${span}&limit=100`);
    expect(pageOf(pages).data[0]).toMatchObject({ externalId: null });
  });

  it.each(['hour', 'day'])('of an account has pages, by %s', async (by) => {
    const all = pageOf<Period>(await ask(owner, OWN, `by=${by}`)).data;
    const found: Period[] = [];
    let cursor = '';
    do {
      const { data, nextCursor } = pageOf<Period>(await ask(owner, OWN, `by=${by}&limit=1${cursor}`));
      found.push(...data);
      cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`;
    } while (cursor !== '');
    expect(found).toEqual(all);
  });

  describe('as CSV', () => {
    const CSV = { accept: 'text/csv' };

    it('has a header line, and the next page in Link', async () => {
      const response = await ask(owner, OWN, 'by=hour&limit=3', CSV);
      expect(response.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
      expect(response.bytes.toString()).toBe(
        'start,accepted,acceptedBytes,delivered,failed,cancelled\r\n' +
          `${at(DAY, 0)},10,100,8,1,1\r\n${at(DAY, 23)},20,200,18,1,1\r\n${at(NEXT_DAY, 0)},15,150,13,1,1\r\n`,
      );
      const [, next = ''] = /^<(.+)>; rel="next"$/.exec(String(response.headers.link)) ?? [];
      const rest = await api.ask(owner, `GET ${next}`, undefined, CSV);
      expect(rest.bytes.toString().split('\r\n').slice(1)).toEqual([`${at(NEXT_DAY, 23)},25,250,23,1,1`, '']);
      expect(rest.headers.link).toBeUndefined();
    });

    it('of all accounts has their ids', async () => {
      const text = (await ask(OPERATOR, '/admin/usage', `by=day&${SPAN}`, CSV)).bytes.toString();
      expect(text.split('\r\n')[0]).toBe(
        'start,accountId,externalId,accepted,acceptedBytes,delivered,failed,cancelled',
      );
      expect(text).toContain(`\r\n${at(DAY, 0)},${owner.id},,30,300,26,2,2\r\n`);
    });

    it.each([
      [undefined, 'json'],
      ['*/*', 'json'],
      ['text/*', 'json'],
      ['application/json', 'json'],
      ['text/csv', 'csv'],
      ['TEXT/CSV; Q=0.5', 'csv'],
      ['text/csv, */*;q=0.1', 'csv'],
      ['text/csv;q=0.4, application/json;q=0.5', 'json'],
      ['application/json;q=0.4, text/csv;q=0.5', 'csv'],
      ['text/csv;q=0', 'json'],
      ['text/csv;q=x', 'json'],
      ['text/html,application/xhtml+xml', 'json'],
    ])('is what a client gets that accepts %s: %s', async (accept, expected) => {
      const { headers } = await ask(owner, OWN, '', { accept });
      expect(headers['content-type']).toMatch(expected === 'csv' ? /^text\/csv/ : /^application\/json/);
    });
  });

  const cursorOf = (text: string) => `cursor=${Buffer.from(text).toString('base64url')}`;
  it.each([
    ['by=week', 'by must be one of hour, day.'],
    ['by=', 'by must be one of hour, day.'],
    ['by=hour&by=day', 'by must be one of hour, day.'],
    ['by=Hour', 'by must be one of hour, day.'],
    ['since=yesterday', 'since must be a time like'],
    ['since=2026-02-30T00:00:00Z', 'since must be a time like'],
    ['since=', 'since must be a time like'],
    ['until=2026-01-01', 'until must be a time like'],
    ['until=2026-01-01T00:00:00', 'until must be a time like'],
    ['until=1&until=2', 'until must be a time like'],
    ['since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z', 'until must be later than since.'],
    ['since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', 'until must be later than since.'],
    ['cursor=', 'cursor must be'],
    ['cursor=x', 'cursor must be'],
    [cursorOf('1795262400001 '), 'cursor must be'],
    [cursorOf('999999999999999 '), 'cursor must be'],
    [cursorOf("1795219200000 ' OR true --"), 'cursor must be'],
    [`by=day&${cursorOf('1795222800000 ')}`, 'cursor must be'],
    ['limit=0', 'limit must be'],
    ['limit=101', 'limit must be'],
    ['limit=1.5', 'limit must be'],
    ['limit=', 'limit must be'],
  ])('responds 400 validation_failed to ?%s', async (query, detail) => {
    const { id } = owner;
    for (const [key, route] of [
      [owner, OWN],
      [OPERATOR, `/admin/accounts/${id}/usage/history`],
      [OPERATOR, '/admin/usage'],
    ] as readonly (readonly [Key, string])[]) {
      const problem = expectProblem(await ask(key, route, query), 400, 'validation_failed');
      expect(problem.detail).toContain(detail);
    }
  });

  it('responds 400 to the cursor of another list', async () => {
    const { nextCursor: ofAll } = pageOf(await ask(OPERATOR, '/admin/usage', `by=hour&${SPAN}&limit=1`));
    const { nextCursor: own } = pageOf(await ask(owner, OWN, 'by=hour&limit=1'));
    const foreign: readonly (readonly [Account | Key, string, unknown])[] = [
      [owner, OWN, ofAll],
      [OPERATOR, '/admin/usage', own],
    ];
    for (const [key, route, cursor] of foreign) {
      expectProblem(await ask(key, route, `by=hour&cursor=${String(cursor)}`), 400, 'validation_failed');
    }
  });
});
