import { existsSync, readFileSync } from 'node:fs';
import type { Account } from '../support/api.js';
import { Consumer, type LeasedMessage } from '../support/consumer.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

/** How many are consumed at least: SLUICE_FAULT_MESSAGES=10000 is the large form. */
const MESSAGES = Number(process.env.SLUICE_FAULT_MESSAGES ?? 400);
const PROGRESS_MS = 60_000 + 60 * MESSAGES;
jest.setTimeout(200_000 + 4 * PROGRESS_MS);

/** What a client does while the service is away. */
async function orElse<T>(request: () => Promise<T>, otherwise: T): Promise<T> {
  return request().catch(() => otherwise);
}

/** A client that consumes until it is stopped. */
interface Client {
  /** The ids of the messages that it has had, as often as it had them. */
  processed(): readonly string[];
  stop(): Promise<void>;
}

function nodeClient(fleet: Fleet, account: Account): Client {
  const consumer = new Consumer(fleet.client, account);
  const processed: string[] = [];
  const stopping = new AbortController();
  const consume = async () => {
    while (!stopping.signal.aborted) {
      const leased = await orElse<LeasedMessage[]>(() => consumer.lease({ max: 50, seconds: 2, wait: 1 }), []);
      processed.push(...leased.map(({ id }) => id));
      const leases = leased.map(({ id, leaseToken }) => ({ id, leaseToken }));
      if (leases.length > 0) await orElse(() => consumer.ackAll(leases), null);
    }
  };
  const running = [1, 2, 3].map(consume);
  return {
    processed: () => processed,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

function shellClient(fleet: Fleet, { key }: Account): Client {
  const file = fleet.file('processed');
  const env = { SLUICE: fleet.api.url, KEY: key, PROCESSED: file };
  const programs = [1, 2, 3].map(() => fleet.start('test/support/consume.sh', env, 'bash'));
  return {
    processed: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []),
    stop: async () => {
      await Promise.all(programs.map((program) => program.kill()));
    },
  };
}

describe('While the API, the worker and PostgreSQL are killed in turn', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.deploy({ MAX_ATTEMPTS: '100' });
    await fleet.worker();
  });
  afterAll(() => fleet.stop());

  it.each([
    ['a client in Node.js', nodeClient],
    ['a shell script with curl', shellClient],
  ])('%s consumes every accepted message, and nothing is lost, stuck or wrongly counted', async (name, start) => {
    const account = await fleet.client.signUp();
    await fleet.client.ask(account, 'PATCH /account', { delivery: 'pull' });
    const accepted = new Set<string>();
    let sending = true;
    const send = async () => {
      for (let batch = 0; sending; batch++) {
        const messages = Array.from({ length: 20 }, (_, index) => `${batch}.${index}`);
        const headers = { 'idempotency-key': `batch-${batch}` };
        const sent = async () => {
          const { status, body } = await fleet.client.sendBatch(account, { messages, headers });
          return status === 202 ? (body.data as { id: string }[]) : [];
        };
        const note = (data: { id: string }[]) => {
          for (const { id } of data) accepted.add(id);
          return data.length > 0;
        };
        // Repeated until it is known to be stored.
        await until(async () => note(await orElse(sent, [])));
        // What is not consumed yet would hide that messages are stuck.
        await until(async () => !sending || accepted.size - (await delivered()) < 1_000, PROGRESS_MS);
      }
    };
    const query = <Row extends object>(text: string) => fleet.client.sql<Row>(text, [account.id]);
    let known = 0;
    const delivered = async () => {
      const text = `SELECT count(*)::int AS count FROM sluice.messages WHERE account_id = $1 AND status = 'delivered'`;
      const [row] = await orElse(() => query<{ count: number }>(text), []);
      return (known = row?.count ?? known);
    };
    const progressed = async () => {
      const before = await delivered();
      await until(async () => (await delivered()) > before + MESSAGES / 4, PROGRESS_MS);
    };

    const startedAt = performance.now();
    const client = start(fleet, account);
    const sent = send();
    try {
      const { api, database, workers } = fleet;
      await progressed();
      await api.kill();
      await api.restart();
      await progressed();
      await database.kill();
      await database.restart();
      await Promise.all(workers.map((worker) => worker.kill()));
      await Promise.all(workers.map((worker) => worker.restart()));
      await progressed();
      await Promise.all([api, ...workers].map((program) => program.kill()));
      await database.kill();
      await database.restart();
      await Promise.all([api, ...workers].map((program) => program.restart()));
      await progressed();
      sending = false;
      await sent;
      await until(async () => (await delivered()) >= accepted.size, PROGRESS_MS);
    } finally {
      sending = false;
      await client.stop();
      await sent;
    }

    const processed = client.processed();
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stdout.write(
      `${name}: ${accepted.size} accepted, ${processed.length} leased, all delivered within ${seconds} s\n`,
    );
    const had = new Set(processed);
    expect([...accepted].filter((id) => !had.has(id))).toEqual([]);
    const statuses = 'SELECT status, count(*)::int FROM sluice.messages WHERE account_id = $1 GROUP BY status';
    expect(await query(statuses)).toEqual([{ status: 'delivered', count: accepted.size }]);
    const wrong = await query(
      `SELECT m.id FROM sluice.messages m
       WHERE account_id = $1 AND (
         attempts <> (SELECT max(number) FROM sluice.attempts a WHERE a.message_id = m.id)
         OR 1 <> (SELECT count(*) FROM sluice.attempts a WHERE a.message_id = m.id AND outcome = 'delivered'))`,
    );
    expect(wrong).toEqual([]);
    expect(await fleet.census()).toBe(0);
    expect([...fleet.apis, ...fleet.workers].flatMap(({ deaths }) => deaths)).toEqual([]);
  });
});
