import { accountOf, OPERATOR, ownApi } from '../../support/api.js';
import { Fleet } from '../../support/fleet.js';
import { callUndocumented, exchange, lines, postLines, RawConnection } from '../../support/http.js';
import { metricsOf } from '../../support/metrics.js';
import { until } from '../../support/processes.js';
import { Link } from '../../support/link.js';

const DURATION = 'sluice_http_request_duration_seconds_count';
const UNREADABLE = `${DURATION}{method="none",route="none",status="400"}`;
const ABORTED = `${DURATION}{method="POST",route="/messages/batch",status="aborted"}`;

describe('The metrics of an API process', () => {
  const link = new Link();
  const api = ownApi({}, link);
  const account = accountOf(api);

  const metrics = () => metricsOf(api.managementUrl);
  const metric = async (name: string) => (await metrics()).get(name);

  it('are in the text format of Prometheus, each with its help and its type', async () => {
    const { headers, bytes } = await callUndocumented(api.managementUrl, { path: '/metrics' });
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = bytes.toString();
    for (const name of text.match(/^sluice_\w+/gm) ?? []) {
      const family = name.replace(/_(bucket|sum|count)$/, '');
      expect(text).toMatch(new RegExp(`^# HELP ${family} \\S.+$`, 'm'));
      expect(text).toMatch(new RegExp(`^# TYPE ${family} (counter|gauge|histogram)$`, 'm'));
    }
  });

  it('count requests once each, by method, pattern and status, and how long they took', async () => {
    const { id } = await api.sent(account);
    const before = await metrics();
    const got = `${DURATION}{method="GET",route="/messages/:id",status="200"}`;
    const head = `${DURATION}{method="HEAD",route="/messages/:id",status="200"}`;
    await api.ask(account, `GET /messages/${id}?limit=1`);
    await api.ask(account, `HEAD /messages/${id}`);
    await until(async () => ((await metric(head)) ?? 0) > 0);
    const after = await metrics();
    expect(after.get(got)).toBe((before.get(got) ?? 0) + 1);
    expect(after.get(head)).toBe(1);
    expect(after.get(got.replace('_count', '_sum'))).toBeGreaterThan(0);
    expect(after.get(got.replace('_count{', '_bucket{le="+Inf",'))).toBe(after.get(got));
  });

  it('count requests without a route, and those that can\u2019t be parsed, under labels of their own', async () => {
    await api.ask(null, 'GET /no/such/path/slc_secret');
    await api.ask(null, 'PROPFIND /messages');
    await exchange(api.url, lines('NONSENSE'));
    await exchange(api.url, lines('GET /%zz HTTP/1.1', 'Host: x'));
    const after = await metrics();
    expect(after.get(UNREADABLE)).toBe(2);
    const found = [...after.keys()].filter((name) => name.startsWith(DURATION));
    expect(found.join()).toMatch(/method="other",route="[^"]*\*",status="405"/);
    expect(found.join()).not.toMatch(/such|secret|PROPFIND|zz/);
  });

  /** A connection on which the API reads the body of a request. */
  const openBatch = async (framing: string) => {
    const connection = await RawConnection.open(api.url);
    connection.write(postLines(account.key, framing, 'Expect: 100-continue').replace('/messages', '/messages/batch'));
    expect((await connection.response()).status).toBe(100);
    return connection;
  };

  it('count a request once, as aborted, whose client has gone', async () => {
    const before = await metrics();
    (await openBatch('Content-Length: 100')).socket.resetAndDestroy();
    await until(async () => ((await metric(ABORTED)) ?? 0) > 0);
    const changed = [...(await metrics())].filter(([name, value]) => value !== before.get(name));
    expect(changed.filter(([name]) => name.startsWith(DURATION))).toEqual([[ABORTED, 1]]);
  });

  it('count a request once whose body can\u2019t be read', async () => {
    const before = await metrics();
    const connection = await openBatch('Transfer-Encoding: chunked');
    connection.write('no length\r\n');
    expect((await connection.response()).status).toBe(400);
    await connection.refused();
    const after = await metrics();
    expect((after.get(UNREADABLE) ?? 0) - (before.get(UNREADABLE) ?? 0)).toBe(1);
    expect(after.get(ABORTED)).toBe(before.get(ABORTED));
  });

  it('never hold an id, a key or a path as it was sent', async () => {
    const { id } = await api.sent(account, { headers: { 'idempotency-key': 'very-own-key' } });
    await api.ask(account, `GET /messages/${id}`);
    const text = (await callUndocumented(api.managementUrl, { path: '/metrics' })).bytes.toString();
    for (const secret of [id, account.id, account.key, account.keyId, 'very-own-key', 'msg_', 'acct_', 'slc_']) {
      expect(text).not.toContain(secret);
    }
  });

  it('count who called and what the limiter decided', async () => {
    const other = await api.signUp();
    await api.sql('UPDATE sluice.accounts SET per_minute = 2, epoch = epoch + 1 WHERE id = $1', [other.id]);
    const before = await metrics();
    for (let times = 0; times < 3; times++) await api.ask(other, 'GET /account');
    await api.ask(null, 'GET /account');
    await api.ask(null, 'GET /account', undefined, { authorization: 'Bearer nonsense' });
    await api.ask(OPERATOR, 'GET /admin/bans');
    const after = await metrics();
    const expected = {
      'limiter_decisions_total{decision="admitted"}': 2,
      'limiter_decisions_total{decision="refused"}': 1,
      'limiter_decisions_total{decision="anonymous_admitted"}': 2,
      'limiter_decisions_total{decision="operator_admitted"}': 1,
      'authentications_total{outcome="valid"}': 3,
      'authentications_total{outcome="missing"}': 1,
      'authentications_total{outcome="invalid"}': 1,
      'authentications_total{outcome="operator"}': 1,
    };
    const grown = (name: string) => (after.get(`sluice_${name}`) ?? NaN) - (before.get(`sluice_${name}`) ?? NaN);
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, grown(name)]))).toEqual(expected);
  });

  it('report batches and what waits for them', async () => {
    await Promise.all(Array.from({ length: 10 }, () => api.sent(account)));
    const after = await metrics();
    expect(after.get('sluice_batch_items_sum{batches="accept"}')).toBeGreaterThanOrEqual(10);
    expect(after.get('sluice_batch_items_count{batches="hits"}')).toBeGreaterThanOrEqual(1);
    expect(after.get('sluice_batch_waiting_items{batches="accept"}')).toBe(0);
    expect(after.get('sluice_batch_waiting_bytes{batches="accept"}')).toBe(0);
    expect(after.has('sluice_relay_waiting_bytes')).toBe(true);
    await until(async () => ((await metric('sluice_relay_batch_messages_sum')) ?? 0) >= 10);
  });

  it('leave out those of the database while it is unavailable', async () => {
    const kept = ['sluice_limiter_decisions_total{decision="admitted"}', 'process_start_time_seconds'];
    const ofStore = ['sluice_outbox_entries', 'sluice_queue_jobs{state="waiting"}', 'sluice_census_violations'];
    const up = await metricsOf(api.managementUrl);
    expect([...kept, ...ofStore].filter((name) => !up.has(name))).toEqual([]);
    expect(up.get('sluice_database_up')).toBe(1);
    expect(up.get('sluice_ready')).toBe(1);
    const other = await api.join();
    try {
      link.stall();
      const start = performance.now();
      const down = await metricsOf(other.managementUrl);
      expect(performance.now() - start).toBeLessThan(75_000);
      expect(kept.filter((name) => !down.has(name))).toEqual([]);
      expect(ofStore.filter((name) => down.has(name))).toEqual([]);
      await until(async () => (await metricsOf(other.managementUrl)).get('sluice_database_up') === 0);
      expect((await metricsOf(other.managementUrl)).get('sluice_ready')).toBe(0);
    } finally {
      link.resume();
    }
  });
});

describe('The metrics of the store', () => {
  const api = ownApi({ RECONCILE_INTERVAL_MS: '86400000' });
  const account = accountOf(api);

  it('report the outbox, the queue, their ages, stray messages and the reconciler', async () => {
    const { id } = await api.sent(account);
    await api.relayed(id);
    await api.sql(
      // One entry that the queue rejected and that is retried later, and two that are not due: no backlog.
      `INSERT INTO sluice.outbox (message_ids, bytes, created_at, due_at, for_sweeper)
         VALUES ('{a,b}', 1, now() - interval '90 s', now() + interval '30 s', false),
                ('{c}', 1, now() - interval '1 day', now() + interval '30 s', true),
                ('{d}', 1, now() - interval '1 day', now() + interval '1 day', true)`,
    );
    await api.sql('UPDATE bullmq.job SET added_at_ms = added_at_ms - 60000');
    await api.sql(`UPDATE sluice.reconciler SET strays = 0, strays_before = 1, began_at = now() - interval '90 s'`);
    const found = await metricsOf(api.managementUrl);
    expect(found.get('sluice_outbox_entries')).toBe(1);
    expect(found.get('sluice_outbox_messages')).toBe(2);
    expect(found.get('sluice_outbox_oldest_seconds')).toBeGreaterThanOrEqual(90);
    expect(found.get('sluice_queue_jobs{state="waiting"}')).toBe(1);
    expect(found.get('sluice_queue_jobs{state="failed"}')).toBe(0);
    expect(found.get('sluice_queue_oldest_waiting_seconds')).toBeGreaterThanOrEqual(60);
    expect(found.get('sluice_census_violations')).toBe(1);
    expect(found.get('sluice_reconciler_last_run_seconds')).toBeGreaterThanOrEqual(90);
  });
});

describe('The metrics of a worker', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start();
  });
  afterAll(() => fleet.stop());

  it('count deliveries by their outcome, and measure the handler', async () => {
    const worker = await fleet.worker({ MAX_ATTEMPTS: '2', BACKOFF_MS: '1' });
    await fleet.send('deliver');
    await fleet.send('throw');
    const ends = async () => {
      const found = await metricsOf(await worker.managementUrl());
      const outcomes = ['delivered', 'retried', 'failed', 'lost_claim'];
      return [
        ...outcomes.map((outcome) => found.get(`sluice_deliveries_total{outcome="${outcome}"}`)),
        found.get('sluice_handler_duration_seconds_count'),
      ].join();
    };
    await until(async () => (await ends()) === '1,1,1,0,3').catch(() => undefined);
    expect(await ends()).toBe('1,1,1,0,3');
  });
});
