import { randomUUID } from 'node:crypto';
import { PostgresEventLog } from '#events/adapters/postgres/postgres-event-log.js';
import { PostgresStreamPlaces } from '#events/adapters/postgres/postgres-stream-places.js';
import type { EventPage, Position } from '#events/application/event-log.js';
import { MAX_STREAMS } from '#events/application/event-streams.js';
import type { Message } from '#messages/domain/message.js';
import { aMessage, anAccountId } from '../support/messages.js';
import { until as waitUntil } from '../support/processes.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

describe('PostgresEventLog', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  let log: PostgresEventLog;
  let places: PostgresStreamPlaces;
  let accountId: string;
  let stranger: string;
  beforeAll(async () => {
    store = await PostgresStore.open();
    process = await store.process();
    log = new PostgresEventLog(process.database, process.reads);
    places = new PostgresStreamPlaces(process.database);
  });
  beforeEach(async () => {
    await store.reset();
    await store.sql('DELETE FROM sluice.events; DELETE FROM sluice.event_streams');
    [accountId, stranger] = [anAccountId(), anAccountId()];
    for (const id of [accountId, stranger]) await places.take(id);
  });
  afterAll(() => store.close());

  const put = async (state: Partial<Message['state']> = {}) => {
    const message = aMessage({ accountId, ...state });
    await store.put(message);
    return message;
  };
  const fail = ({ id }: Message) => store.sql(`UPDATE sluice.messages SET status = 'failed' WHERE id = $1`, [id]);
  const seen = (page: EventPage | undefined) =>
    page?.events.map(({ message }) => [message.id, message.state.status]) ?? [];
  /** Waits until the log has all changes: it ends before transactions that run, also those of other databases. */
  const complete = async () => {
    const [row] = await store.sql<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid');
    await waitUntil(async () => {
      const [now] = await store.sql<{ xmin: string }>('SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin');
      return BigInt(now?.xmin ?? 0) > BigInt(row?.xid ?? 0);
    });
  };
  const partOf = (from: bigint, until: bigint): Position => ({ from, until, id: 0n });

  it('returns the changes of the requested accounts in order', async () => {
    const from = await log.end();
    const [mine, theirs] = [await put(), await put({ accountId: stranger })];
    await fail(mine);
    await complete();
    const { until, pages } = await log.readNew([accountId], from);
    expect([...pages.keys()]).toEqual([accountId]);
    const all = [
      [mine.id, 'queued'],
      [mine.id, 'failed'],
    ];
    expect(seen(pages.get(accountId))).toEqual(all);
    expect(seen(await log.read(accountId, partOf(from, until)))).toEqual(all);
    expect(seen(await log.read(stranger, partOf(from, until)))).toEqual([[theirs.id, 'queued']]);
    expect((await log.readNew([], from)).pages.size).toBe(0);
    expect((await log.readNew([accountId], until)).pages.size).toBe(0);
  });

  it('continues after an event, up to the end of the part', async () => {
    const from = await log.end();
    const sent = [await put(), await put(), await put()];
    await complete();
    const until = await log.end();
    await put();
    const { events } = await log.read(accountId, partOf(from, until));
    expect(events.map(({ message }) => message.id)).toEqual(sent.map(({ id }) => id));
    for (const [index, { position }] of events.entries()) {
      const rest = await log.read(accountId, position);
      expect(rest.events.map(({ message }) => message.id)).toEqual(sent.slice(index + 1).map(({ id }) => id));
    }
  });

  it('ends before a change that may still be in progress', async () => {
    const from = await log.end();
    const first = await put();
    await complete();
    const changing = await store.transaction(`UPDATE sluice.messages SET status = 'failed' WHERE id = $1`, [first.id]);
    const later = await put();
    const before = await log.readNew([accountId], from);
    expect(seen(before.pages.get(accountId))).toEqual([[first.id, 'queued']]);
    await changing.query('COMMIT');
    await complete();
    const after = await log.readNew([accountId], before.until);
    expect(seen(after.pages.get(accountId)).sort()).toEqual(
      [
        [first.id, 'failed'],
        [later.id, 'queued'],
      ].sort(),
    );
  });

  it('has pages of 100 events, or about 256 KiB of text', async () => {
    const from = await log.end();
    for (let n = 0; n < 101; n++) await put();
    await complete();
    const { until, pages } = await log.readNew([accountId], from);
    const first = pages.get(accountId);
    expect(first?.events).toHaveLength(100);
    const rest = await log.read(accountId, first?.next ?? partOf(until, until));
    expect([rest.events.length, rest.next]).toEqual([1, null]);
    for (let n = 0; n < 3; n++) await put({ text: 'x'.repeat(100_000) });
    await complete();
    const large = await log.read(accountId, partOf(until, await log.end()));
    expect(large.events).toHaveLength(2);
    expect(large.next).not.toBeNull();
  });

  it('deletes events after an hour, and omits events of removed messages', async () => {
    const from = await log.end();
    const [old, removed, young] = [await put(), await put(), await put()];
    await store.sql(
      `UPDATE sluice.events SET recorded_at = now() - CASE message_id WHEN $1 THEN interval '61 minutes' ELSE interval '59 minutes' END`,
      [old.id],
    );
    await complete();
    expect(await log.deleteExpired()).toBe(false);
    await store.sql('DELETE FROM sluice.messages WHERE id = $1', [removed.id]);
    expect(seen(await log.read(accountId, partOf(from, await log.end())))).toEqual([[young.id, 'queued']]);
  });

  it('records nothing for accounts that have had no stream for an hour', async () => {
    await store.sql(
      `UPDATE sluice.event_streams SET open_until = now() - interval '61 minutes' WHERE account_id = $1`,
      [accountId],
    );
    await put();
    await put({ accountId: stranger });
    expect(await store.sql('SELECT account_id FROM sluice.events')).toEqual([{ account_id: stranger }]);
  });

  describe('has places for streams,', () => {
    const takeAll = async () => {
      const taken = await Promise.all(Array.from({ length: MAX_STREAMS + 3 }, () => places.take(accountId)));
      return taken.flatMap((place) => place ?? []);
    };
    const expire = () => store.sql(`UPDATE sluice.event_streams SET open_until = now() - interval '1 second'`);

    it('as many as an account may have, however many ask at once', async () => {
      const taken = await takeAll();
      // One is taken already.
      expect(taken).toHaveLength(MAX_STREAMS - 1);
      expect(new Set(taken.map(({ number }) => number)).size).toBe(MAX_STREAMS - 1);
      expect(await places.take(accountId)).toBeNull();
      expect(await places.take(anAccountId())).not.toBeNull();
    });

    it('which are free again when they are left or not renewed', async () => {
      const [place] = await takeAll();
      if (place === undefined) throw new Error('There is no place.');
      await places.leave(place);
      expect(await places.take(accountId)).toMatchObject({ number: place.number });
      expect(await places.take(accountId)).toBeNull();
      await expire();
      expect(await takeAll()).toHaveLength(MAX_STREAMS);
    });

    it('which only their own stream renews or leaves', async () => {
      const [place] = await takeAll();
      if (place === undefined) throw new Error('There is no place.');
      const other = { ...place, token: randomUUID() };
      const foreign = { ...place, accountId: stranger };
      for (const wrong of [other, foreign]) {
        expect(await places.renew([wrong])).toEqual(new Set());
        await places.leave(wrong);
      }
      expect(await places.take(accountId)).toBeNull();
      expect(await places.renew([place, other])).toEqual(new Set([place.token]));
      await expire();
      await takeAll();
      expect(await places.renew([place])).toEqual(new Set());
    });
  });
});
