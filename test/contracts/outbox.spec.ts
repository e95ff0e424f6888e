import type { Message } from '#messages/domain/message.js';
import { after, aMessage, messages, SENT_AT, unavailable } from '../support/messages.js';
import { openBullMq } from './bullmq-process.js';
import { InMemoryJobQueue } from './fakes/in-memory-job-queue.js';
import { InMemoryOutbox } from './fakes/in-memory-outbox.js';
import { InMemoryStore } from './fakes/in-memory-store.js';
import { describeOutbox, type OutboxSubject } from './outbox.contract.js';
import { PostgresStore } from './postgres-store.js';

function openInMemory(): Promise<OutboxSubject> {
  const store = new InMemoryStore();
  return Promise.resolve({
    outbox: new InMemoryOutbox(store),
    other: new InMemoryOutbox(store),
    commit: (...sent) => Promise.resolve(store.commit(sent).id),
    commitForSweeper: (ms, ...sent) => Promise.resolve(store.commit(sent, after(ms, store.clock.now())).id),
    entries: () => Promise.resolve([...store.entries.values()].map(({ id, messageIds }) => [id, [...messageIds]])),
    pass: (ms) => {
      store.clock.advance(ms);
      return Promise.resolve();
    },
    reset: () => {
      store.messages.clear();
      store.entries.clear();
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
}

async function openPostgres(): Promise<OutboxSubject> {
  const store = await PostgresStore.open();
  return {
    outbox: (await store.process()).outbox,
    other: (await store.process()).outbox,
    commit: (...sent) => store.commit(...sent),
    commitForSweeper: async (ms, ...sent) => {
      const id = await store.commit(...sent);
      const due = `clock_timestamp() + $2 * interval '1 millisecond'`;
      await store.sql(`UPDATE sluice.outbox SET for_sweeper = true, due_at = ${due} WHERE id = $1`, [id, ms]);
      return id;
    },
    entries: async () => (await store.entries()).map(({ id, message_ids }) => [id, message_ids]),
    pass: async (ms) => {
      await store.sql(`UPDATE sluice.outbox SET due_at = due_at - $1 * interval '1 millisecond'`, [ms]);
    },
    reset: () => store.reset(),
    close: () => store.close(),
  };
}

describeOutbox('InMemoryOutbox', openInMemory);
describeOutbox('PostgresOutbox', openPostgres);

/** A relay that queues everything. */
function relaying() {
  const jobs: string[] = [];
  const relay = (given: readonly Message[]) => {
    jobs.push(...given.map(({ jobId }) => jobId));
    return Promise.resolve(new Set<string>());
  };
  return { relay, jobs };
}

describe('the outbox of PostgreSQL', () => {
  let store: PostgresStore;
  beforeAll(async () => {
    store = await PostgresStore.open();
  });
  beforeEach(() => store.reset());
  afterAll(() => store.close());

  it('holds one entry for all messages that are stored in one commit', async () => {
    const process = await store.process();
    const all = messages(20);
    await Promise.all(all.map((message) => process.messages.add([message], null)));
    expect((await store.entries()).map(({ message_ids }) => message_ids.length)).toEqual([20]);
  });

  it('is swept by another process when the one that swept it has lost its connection', async () => {
    const [one, other] = [await store.process(), await store.process()];
    await store.commit(aMessage());
    const interrupted = one.outbox.sweep(0, async () => {
      // Until its process has ended, the server may not have released its locks.
      await store.sql(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'`);
      return new Set();
    });
    await expect(interrupted).rejects.toMatchObject({ code: 'unavailable' });
    expect(await store.entries()).toHaveLength(1);
    expect(await other.outbox.sweep(0, relaying().relay)).toBe(1);
    expect(await one.outbox.sweep(0, () => Promise.reject(unavailable()))).toBe(0);
  });

  it('passes the oldest entries first, however many there are', async () => {
    const { outbox } = await store.process();
    const message = aMessage();
    await store.put(message);
    await store.sql(
      `INSERT INTO sluice.outbox (message_ids, bytes, due_at)
       SELECT ARRAY[$1], 300, clock_timestamp() - age * interval '1 second' FROM generate_series(1, 1000) AS age`,
      [message.id],
    );
    const swept = await outbox.sweep(0, relaying().relay);
    const [left] = await store.sql<{ oldest: number }>(
      'SELECT round(extract(epoch FROM clock_timestamp() - min(due_at)))::int AS oldest FROM sluice.outbox',
    );
    expect(swept).toBeGreaterThan(0);
    expect(left?.oldest).toBeLessThanOrEqual(1_010 - swept);
  });

  it('may be relayed and swept by several processes at once: each job is there once, and no entry is left', async () => {
    const queues = [openBullMq(store.url), openBullMq(store.url)] as const;
    const [one, other] = [await store.process(queues[0].queue), await store.process(queues[1].queue)];
    const all = messages(600);
    const sent = new AbortController();
    const sweeping = (async () => {
      while (!sent.signal.aborted) await Promise.all([one, other].map(({ relay }) => relay.sweep(0)));
    })();
    await Promise.all(all.map((message) => one.messages.add([message], null)));
    sent.abort();
    await sweeping;
    await one.relay.close();
    expect([...(await queues[0].jobs()).keys()].sort()).toEqual(all.map(({ id }) => id).sort());
    expect(await store.entries()).toEqual([]);
    expect([...one.reports, ...other.reports, ...one.faults]).toEqual([]);
    for (const { close } of queues) await close();
  });

  it('keeps messages for later until they are due, one entry for each time, whatever came with them', async () => {
    const queue = new InMemoryJobQueue();
    const { messages: store1, outbox } = await store.process(queue);
    const hour = new Date(Date.now() + 3_600_000);
    const [now, past, one, same, other] = [null, SENT_AT, hour, hour, after(1, hour)].map((deliverAt) =>
      aMessage({ deliverAt }),
    ) as [Message, Message, Message, Message, Message];
    await store1.add([now, past, one, same, other], null);
    await store.until(() => queue.jobs.size === 2);
    expect([...queue.jobs.keys()].sort()).toEqual([now.id, past.id].sort());
    await store.until(async () => (await store.entries()).length === 2);
    expect((await store.entries()).map(({ message_ids }) => message_ids.length).sort()).toEqual([1, 2]);
    const { relay, jobs } = relaying();
    expect(await outbox.sweep(2_000, relay)).toBe(0);
    await store.sql(`UPDATE sluice.outbox SET due_at = due_at - interval '1 hour'`);
    expect(await outbox.sweep(2_000, relay)).toBe(2);
    expect(jobs.sort()).toEqual([one.id, same.id, other.id].sort());
  });

  it('finds what is due by an index, however much is for later', async () => {
    const { outbox, database } = await store.process();
    await store.sql(`INSERT INTO sluice.outbox (message_ids, bytes, due_at, for_sweeper)
      SELECT ARRAY['msg_' || n], 300, clock_timestamp() + interval '1 day', true FROM generate_series(1, 20000) AS n`);
    const query = jest.spyOn(database, 'query');
    expect(await outbox.sweep(2_000, relaying().relay)).toBe(0);
    const [text = '', values = []] = query.mock.calls[0] ?? [];
    const plan = await store.sql(`EXPLAIN ${text.replace('$1', String(values[0]))}`);
    expect(JSON.stringify(plan)).toMatch(/Index (Only )?Scan.*Index Cond/);
  });

  it('relays a retried message once, as the job it now is', async () => {
    const { messages, outbox } = await store.process();
    const failed = aMessage({ status: 'failed' });
    await store.commit(failed);
    await messages.change(failed.state.accountId, failed.id, (message) => message.retry(after(1)));
    const { relay, jobs } = relaying();
    await outbox.sweep(0, relay);
    expect(jobs).toEqual([`${failed.id}.1`]);
    expect(await store.entries()).toEqual([]);
  });
});
