import { Fleet } from '../support/fleet.js';
import { Consumer, type LeasedMessage } from '../support/consumer.js';
import { until } from '../support/processes.js';

jest.setTimeout(200_000);

/** What a client does while the service is away. */
async function orElse<T>(request: () => Promise<T>, otherwise: T): Promise<T> {
  return request().catch(() => otherwise);
}

describe('A client that pulls while the API and PostgreSQL are killed in turn', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.deploy({ MAX_ATTEMPTS: '100' });
    await fleet.worker();
    await fleet.client.ask(fleet.account, 'PATCH /account', { delivery: 'pull' });
  });
  afterAll(() => fleet.stop());

  it('consumes every message that was accepted, and nothing is lost, stuck or wrongly counted', async () => {
    const consumer = new Consumer(fleet.client, fleet.account);
    const accepted = new Set<string>();
    const processed = new Map<string, number>();
    const acknowledged = new Set<string>();
    let sending = true;

    const send = async () => {
      for (let batch = 0; sending; batch++) {
        const messages = Array.from({ length: 20 }, (_, index) => `${batch}.${index}`);
        const headers = { 'idempotency-key': `batch-${batch}` };
        const sent = async () => {
          const { status, body } = await fleet.client.sendBatch(fleet.account, { messages, headers });
          return status === 202 ? (body.data as { id: string }[]) : [];
        };
        const note = (data: { id: string }[]) => {
          for (const { id } of data) accepted.add(id);
          return data.length > 0;
        };
        // Repeated until it is known to be stored.
        await until(async () => note(await orElse(sent, [])), 60_000);
      }
    };
    const consume = async () => {
      while (sending || acknowledged.size < accepted.size) {
        const leased = await orElse<LeasedMessage[]>(() => consumer.lease({ max: 50, seconds: 2, wait: 1 }), []);
        for (const { id } of leased) processed.set(id, (processed.get(id) ?? 0) + 1);
        if (leased.length === 0) continue;
        const items = leased.map(({ id, leaseToken }) => ({ id, leaseToken }));
        const response = await orElse(() => consumer.ackAll(items), null);
        if (response?.status !== 200) continue;
        const results = response.body.data as { id: string; result: string }[];
        for (const { id, result } of results) if (result === 'acknowledged') acknowledged.add(id);
        // An acknowledgement whose response was lost: the message is delivered, and never leased again.
        if (!sending) await noteDelivered();
      }
    };
    const noteDelivered = async () => {
      const rows = await fleet.client.sql<{ id: string }>(`SELECT id FROM sluice.messages WHERE status = 'delivered'`);
      for (const { id } of rows) if (processed.has(id)) acknowledged.add(id);
    };

    const running = [send(), ...[1, 2, 3].map(consume)];
    const progressed = async () => {
      const before = acknowledged.size;
      await until(() => acknowledged.size > before + 100, 60_000);
    };
    await progressed();
    await fleet.api.kill();
    await fleet.api.restart();
    await progressed();
    await fleet.database.kill();
    await fleet.database.restart();
    await progressed();
    await Promise.all([fleet.api.kill(), fleet.database.kill()]);
    await fleet.database.restart();
    await fleet.api.restart();
    await progressed();
    sending = false;
    await noteDelivered();
    const drained = Promise.all(running);
    await until(async () => {
      await noteDelivered();
      return acknowledged.size >= accepted.size;
    }, 60_000);
    await drained;

    expect([...accepted].filter((id) => !processed.has(id))).toEqual([]);
    const statuses = await fleet.client.sql('SELECT status, count(*)::int FROM sluice.messages GROUP BY status');
    expect(statuses).toEqual([{ status: 'delivered', count: accepted.size }]);
    const wrong = await fleet.client.sql(
      `SELECT m.id FROM sluice.messages m
       WHERE attempts <> (SELECT max(number) FROM sluice.attempts a WHERE a.message_id = m.id)
          OR 1 <> (SELECT count(*) FROM sluice.attempts a WHERE a.message_id = m.id AND outcome = 'delivered')`,
    );
    expect(wrong).toEqual([]);
    expect(await fleet.census()).toBe(0);
    expect([...fleet.apis, ...fleet.workers].flatMap(({ deaths }) => deaths)).toEqual([]);
  });
});
