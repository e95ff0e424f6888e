import pg from 'pg';
import { sqlState } from '#platform/database/errors.js';
import { expectProblem, OPERATOR } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

const FULL = '54000';
/** A message that is refused for its own sake waits for a minute. */
const SOON_MS = 25_000;

it('While the queue of NOTIFY is full, messages are accepted, other changes get 503, and nothing waits longer than that', async () => {
  const fleet = await Fleet.deploy({}, { max_notify_queue_pages: '64' });
  // It keeps the queue: it listens, and does not end its transaction.
  const listener = new pg.Client(fleet.database.url);
  try {
    await fleet.worker();
    const { body: other } = await fleet.client.ask(OPERATOR, 'POST /admin/accounts', { name: 'Other' });
    const suspend = (suspended: boolean) =>
      fleet.client.ask(OPERATOR, `PATCH /admin/accounts/${String(other.id)}`, { suspended });
    await suspend(true);
    await listener.connect();
    for (const statement of ['LISTEN other', 'BEGIN', 'SELECT 1']) await listener.query(statement);
    const notify = () => fleet.sql(`SELECT pg_notify('other', repeat('x', 7900))`).then(() => '', sqlState);
    while ((await notify()) !== FULL);

    const responses = await Promise.all(Array.from({ length: 20 }, () => fleet.client.send(fleet.account)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(202));
    expectProblem(await suspend(false), 503, 'unavailable');
    const open = () => fleet.sql(`SELECT FROM sluice.messages WHERE status <> 'delivered'`);
    expect(await open()).toHaveLength(20);

    await listener.query('ROLLBACK');
    await until(async () => (await open()).length === 0, SOON_MS);
    expect((await suspend(false)).status).toBe(200);
  } finally {
    await listener.end();
    await fleet.stop();
  }
}, 240_000);
