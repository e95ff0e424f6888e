import { accountOf, ownApi } from '../support/api.js';
import { EventClient } from '../support/event-client.js';
import { until } from '../support/processes.js';

describe('A client that resumes its events after the database has become another cluster', () => {
  const api = ownApi();
  const account = accountOf(api);

  /** The state after a dump was restored: the log is from another cluster, with other transaction ids. */
  const restored = async (ahead: bigint) => {
    await api.sql(`UPDATE sluice.installation SET value = 'another/00000001 ' || split_part(value, ' ', 2)
      WHERE name = 'event_log'`);
    await api.sql(`UPDATE sluice.events SET xid = (xid::text::bigint + $1)::text::xid8`, [String(ahead)]);
  };
  const positionAhead = (id: string, ahead: bigint) => {
    const [from = '', end = '', event = ''] = id.split('-');
    return [BigInt(from) + ahead, BigInt(end) + ahead, event].join('-');
  };
  const queued = (client: EventClient) => client.events.map(({ data }) => data.id);

  it.each([
    ['higher', 1_000_000_000n],
    ['the same', 0n],
  ])('misses none, if transaction ids there were %s', async (_what, ahead) => {
    const first = await EventClient.open(api, account);
    await until(() => first.lastEventId !== '');
    const seen = await api.sent(account);
    await until(() => queued(first).includes(seen.id));
    const last = positionAhead(first.lastEventId, ahead);
    first.response.destroy();
    const missedBefore = await api.sent(account);
    await restored(ahead);
    const missedAfter = await api.sent(account);
    const second = await EventClient.open(api, account, last);
    await until(() => [missedBefore, missedAfter].every(({ id }) => queued(second).includes(id)));
    const later = await api.sent(account);
    await until(() => queued(second).includes(later.id));
    // From here on, nothing is repeated or missed.
    const resumed = await EventClient.open(api, account, second.lastEventId);
    const latest = await api.sent(account);
    await until(() => queued(resumed).includes(latest.id));
    expect(queued(resumed)).toEqual([latest.id]);
    for (const client of [second, resumed]) client.response.destroy();
  });
});
