import { PostgresBacklogs } from '#messages/adapters/postgres/reading/postgres-backlogs.js';
import type { Backlogs } from '#messages/application/backlogs.js';
import { after, aMessage, anAccountId } from '../support/messages.js';
import { PostgresStore } from './postgres-store.js';

const NOTHING = { queued: 0, oldestQueuedAt: null, scheduled: 0, deliveredPerMinute: 0 };

describe('PostgresBacklogs', () => {
  let store: PostgresStore;
  let backlogs: Backlogs;
  let accountId: string;

  beforeAll(async () => {
    store = await PostgresStore.open();
    backlogs = new PostgresBacklogs((await store.process()).reads);
  });
  beforeEach(async () => {
    await store.reset();
    accountId = anAccountId();
  });
  afterAll(() => store.close());

  const delivered = (account: string, count: number, age: string) =>
    store.sql(
      `INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome)
       SELECT 'msg_' || gen_random_uuid(), 1, $1, now() - interval '1 hour', now() - $3::interval, 'delivered'
       FROM generate_series(1, $2::int)`,
      [account, count, age],
    );

  it('is empty for an account without messages', async () => {
    expect(await backlogs.of(accountId)).toEqual(NOTHING);
  });

  it('counts the queued and the scheduled messages of the account, and reports since when the oldest is due', async () => {
    const future = after(3_600_000, new Date());
    const sent = [
      aMessage({ accountId, createdAt: after(5_000) }),
      aMessage({ accountId, createdAt: after(0), deliverAt: after(7_000) }),
      aMessage({ accountId, createdAt: after(3_000), attempts: 1 }),
      aMessage({ accountId, deliverAt: future }),
      aMessage({ accountId: anAccountId() }),
      ...(['delivered', 'failed', 'cancelled'] as const).map((status) => aMessage({ accountId, status })),
    ];
    for (const message of sent) await store.put(message);
    expect(await backlogs.of(accountId)).toEqual({
      ...NOTHING,
      ...{ queued: 3, oldestQueuedAt: after(3_000), scheduled: 1 },
    });
  });

  it.each([
    [50, '10 seconds', 10],
    [50, '4 minutes 50 seconds', 10],
    [50, '5 minutes 1 second', 0],
    [3_000, '30 seconds', 2_000],
  ])('estimates %d deliveries %s ago as %d a minute', async (count, age, expected) => {
    await delivered(accountId, count, age);
    await delivered(anAccountId(), 7, age);
    const { deliveredPerMinute } = await backlogs.of(accountId);
    expect(Math.abs(deliveredPerMinute - expected)).toBeLessThanOrEqual(expected / 10);
  });
});
