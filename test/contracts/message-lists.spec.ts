import fc from 'fast-check';
import type { MessagePage } from '#messages/application/messages.js';
import { MESSAGE_STATUSES } from '#messages/domain/message-status.js';
import type { Message, MessageState } from '#messages/domain/message.js';
import { readTypeFilter } from '#messages/domain/type-filter.js';
import { aClaim, after, aMessage, anAccountId, claimTerms, FIRST_PAGE, jobOf } from '../support/messages.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

const TYPES = [
  null,
  ...['order', 'order.paid', 'order.paid.late', 'order.paid.late.by.a.week', 'orders', 'orders.paid', 'order-x.paid'],
  ...['order.paid.late.by.the.hour', 'Order.paid', 'user.created', 'a.b.c.d', 'a.b.c.d.e', 'a.b.c.dd.e'],
];
const FILTERS = [
  null,
  ...['order', 'order.paid', 'order.paid.late.by.a.week', 'nothing'],
  ...[
    'order.*',
    'order.paid.*',
    'order.paid.late.*',
    'order.paid.late.by.*',
    'order.paid.late.by.a.*',
    'order.paid.late.by.a.week.*',
  ],
  ...['orders.*', 'a.b.c.d.*', 'nothing.*'],
];

const FUTURE = new Date(Date.now() + 86_400_000);

/** Whether a filter selects a type, in the words of its description. */
const selects = (filter: string | null, type: string | null): boolean =>
  filter === null || (type !== null && (filter.endsWith('*') ? type.startsWith(filter.slice(0, -1)) : type === filter));

const typeOf = (filter: string | null) => (filter === null ? null : readTypeFilter(filter));

describe('Lists of messages and cancelling what they show', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  const accountId = anAccountId();
  const all: Message[] = [];

  beforeAll(async () => {
    store = await PostgresStore.open();
    process = await store.process();
  });
  beforeEach(async () => {
    await store.reset();
    all.length = 0;
    // Eight in each millisecond, of every type and status; half of them of another account.
    for (let index = 0; index < 2 * TYPES.length * MESSAGE_STATUSES.length; index++) {
      const state: Partial<MessageState> = {
        accountId: index % 2 === 0 ? accountId : anAccountId(),
        type: TYPES[Math.floor(index / 2) % TYPES.length] ?? null,
        status: MESSAGE_STATUSES[Math.floor(index / 2) % MESSAGE_STATUSES.length] ?? 'queued',
        createdAt: after(Math.floor(index / 8)),
        deliverAt: index % 3 === 0 ? FUTURE : null,
      };
      const message = aMessage({ ...state, ...(state.status === 'processing' && { claim: aClaim() }) });
      await store.put(message);
      all.push(message);
    }
  });
  afterAll(() => store.close());

  const isScheduled = (id: string) => all.find((message) => message.id === id)?.state.deliverAt === FUTURE;

  /** The ids that a naive reading of the filters selects, newest first. */
  const expected = (filter: string | null, { status, since, until }: Pick<MessagePage, 'status' | 'since' | 'until'>) =>
    all
      .filter(({ state }) => state.accountId === accountId && selects(filter, state.type))
      .filter(({ state }) => status === null || state.status === status)
      .filter(({ state }) => since === null || state.createdAt >= since)
      .filter(({ state }) => until === null || state.createdAt < until)
      .map(({ id }) => id)
      .sort()
      .reverse();

  async function walk(page: MessagePage): Promise<string[]> {
    const ids: string[] = [];
    for (let before: string | null = null; ;) {
      const { messages, more } = await process.messages.list(accountId, { ...page, before });
      expect(messages.length).toBeLessThanOrEqual(page.limit);
      ids.push(...messages.map(({ id }) => id));
      if (!more) return ids;
      before = ids.at(-1) ?? '';
    }
  }

  const time = fc.option(fc.integer({ min: -1, max: 18 }).map((ms) => after(ms)));
  const anyFilter = fc.record({
    ...{ type: fc.constantFrom(...FILTERS), status: fc.constantFrom(null, ...MESSAGE_STATUSES) },
    ...{ since: time, until: time, limit: fc.constantFrom(1, 3, 100) },
  });

  it('show what the filters select, in every combination of them, page by page', async () => {
    for (const type of FILTERS) {
      for (const status of [null, ...MESSAGE_STATUSES]) {
        const filter = { ...FIRST_PAGE, status, type: typeOf(type) };
        expect(await walk(filter)).toEqual(expected(type, filter));
      }
    }
    const property = fc.asyncProperty(anyFilter, async ({ type, ...filter }) => {
      const page = { ...FIRST_PAGE, ...filter, type: typeOf(type) };
      expect(await walk(page)).toEqual(expected(type, page));
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it('are exact to the millisecond', async () => {
    for (const ms of [0, 1, 7]) {
      const of = { ...FIRST_PAGE, since: after(ms), until: after(ms + 1) };
      const ids = await walk(of);
      expect(ids).not.toEqual([]);
      expect(ids).toEqual(expected(null, of));
    }
  });

  it('cancels the queued ones that the filters select, and no others', async () => {
    const property = fc.asyncProperty(anyFilter, async ({ type, since, until }) => {
      const filter = { since, until, type: typeOf(type) };
      const queued = expected(type, { ...filter, status: 'queued' });
      const jobs: string[] = [];
      const noted = (ids: readonly string[]) => Promise.resolve(jobs.push(...ids));
      expect(await process.messages.cancelQueued(accountId, filter, 100_000, noted)).toBe(queued.length);
      expect(jobs.sort()).toEqual(queued.filter((id) => !isScheduled(id)).sort());
      const changed = await store.sql<{ id: string }>(
        `SELECT id FROM sluice.messages WHERE status = 'cancelled' AND updated_at > created_at ORDER BY id`,
      );
      expect(changed.map(({ id }) => id)).toEqual(queued.toSorted());
      await store.sql(
        `UPDATE sluice.messages SET status = 'queued', updated_at = created_at
         WHERE status = 'cancelled' AND updated_at > created_at`,
      );
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('lets those pass that wait for a message which is cancelled', async () => {
    await store.reset();
    const [head, next] = [
      aMessage({ accountId, type: 'order.paid', orderingKey: 'k' }),
      aMessage({ accountId, type: 'user.created', orderingKey: 'k', createdAt: after(1) }),
    ];
    for (const message of [head, next]) await process.messages.add([message], null);
    const queued = async () => (await store.entries()).flatMap((entry) => entry.message_ids);
    expect(await queued()).toEqual([head.id]);
    const filter = { type: typeOf('order.*'), since: null, until: null };
    expect(await process.messages.cancelQueued(accountId, filter, 100, () => Promise.resolve())).toBe(1);
    expect(await queued()).toContain(next.id);
  });

  describe('cancelling more messages than a step has', () => {
    const everything = { type: null, since: null, until: null };
    const nothing = () => Promise.resolve();
    const statuses = async () => {
      const rows = await store.sql<{ status: string; count: number }>(
        'SELECT status, count(*)::int AS count FROM sluice.messages WHERE account_id = $1 GROUP BY 1 ORDER BY 1',
        [accountId],
      );
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    };
    const queued = (count: number) =>
      Array.from({ length: count }, (_, index) => aMessage({ accountId, createdAt: after(index) }));
    const put = async (messages: readonly Message[]) => {
      await store.reset();
      await Promise.all(messages.map((message) => store.put(message)));
    };

    it('has a true count beside workers that claim them and another request', async () => {
      const messages = queued(1_200);
      await put(messages);
      const other = await store.process();
      const [one, two, ...claims] = await Promise.all([
        process.messages.cancelQueued(accountId, everything, 100_000, nothing),
        other.messages.cancelQueued(accountId, everything, 100_000, nothing),
        ...messages.map((message) => other.deliveries.claim(jobOf(message), claimTerms())),
      ]);
      const claimed = claims.filter((claim) => claim !== null).length;
      expect(await statuses()).toEqual({
        cancelled: one + two,
        ...(claimed > 0 && { processing: claimed }),
      });
      expect(one + two + claimed).toBe(1_200);
    });

    it('keeps the steps before one that fails, and leaves the rest queued', async () => {
      await put(queued(1_200));
      const fails = jest.fn().mockResolvedValueOnce(undefined).mockRejectedValueOnce(new Error('crashed'));
      const cancelling = process.messages.cancelQueued(accountId, everything, 100_000, fails);
      await expect(cancelling).rejects.toThrow('crashed');
      expect(await statuses()).toEqual({ cancelled: 1_000, queued: 200 });
      expect(await process.messages.cancelQueued(accountId, everything, 100_000, nothing)).toBe(200);
    });

    it('ends at the most that it may cancel, with the oldest', async () => {
      const messages = queued(1_200);
      await put(messages);
      expect(await process.messages.cancelQueued(accountId, everything, 700, nothing)).toBe(700);
      const rest = await walk({ ...FIRST_PAGE, status: 'queued' });
      expect(rest).toEqual(
        messages
          .slice(700)
          .map(({ id }) => id)
          .sort()
          .reverse(),
      );
    });

    // Its places in lines are locked at different times: together they could be more than a transaction may lock one by one.
    it('never locks lines twice when some messages are for endpoints and others are not', async () => {
      await store.reset();
      await store.addEndpoint(accountId);
      const messages = Array.from({ length: 120 }, (_, index) =>
        aMessage({
          ...{ accountId, createdAt: after(index), orderingKey: `k${index}` },
          delivery: index % 2 === 0 ? 'handler' : 'webhooks',
        }),
      );
      await process.messages.add(messages, null);
      const ending = await store.transaction(
        `SELECT pg_advisory_xact_lock_shared(hashtextextended('sluice.ordered_deliveries', 0))`,
      );
      expect(await process.messages.cancelQueued(accountId, everything, 100_000, nothing)).toBe(120);
      await ending.query('ROLLBACK');
      expect(await statuses()).toEqual({ cancelled: 120 });
      expect(await store.sql('SELECT FROM sluice.ordered_deliveries')).toEqual([]);
    });

    it('goes on after a step of which a worker had claimed all', async () => {
      const messages = queued(600);
      await put(messages);
      const first = messages.slice(0, 500).map(({ id }) => id);
      const client = await store.transaction(
        `UPDATE sluice.messages SET status = 'processing', claim = gen_random_uuid(), claim_expires_at = now() WHERE id = ANY ($1)`,
        [first],
      );
      const cancelling = process.messages.cancelQueued(accountId, everything, 100_000, nothing);
      await store.somebodyWaits();
      await client.query('COMMIT');
      expect(await cancelling).toBe(100);
      expect(await statuses()).toEqual({ cancelled: 100, processing: 500 });
    });
  });
});
