import { accountOf, OPERATOR, ownApi } from '../../support/api.js';
import { callUndocumented, exchange, lines, RawConnection } from '../../support/http.js';
import { metricsOf } from '../../support/metrics.js';
import { freePort, Program, until } from '../../support/processes.js';
import { Link } from '../../support/link.js';

const DURATION = 'sluice_http_request_duration_seconds_count';

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

  it('include those of Node.js', async () => {
    const names = [...(await metrics()).keys()].join('\n');
    expect(names).toMatch(/^nodejs_eventloop_lag_p99_seconds$/m);
    expect(names).toMatch(/^process_resident_memory_bytes$/m);
    expect(names).toMatch(/^nodejs_gc_duration_seconds_count/m);
  });

  it('count requests once each, by method, pattern and status, and how long they took', async () => {
    const { id } = await api.sent(account);
    const before = await metrics();
    const got = `${DURATION}{method="GET",route="/messages/:id",status="200"}`;
    const head = `${DURATION}{method="HEAD",route="/messages/:id",status="200"}`;
    await api.ask(account, `GET /messages/${id}?limit=1`);
    await api.ask(account, `HEAD /messages/${id}`);
    await until(async () => ((await metric(head)) ?? 0) > 0, 5_000);
    expect((await metric(got)) ?? 0).toBe((before.get(got) ?? 0) + 1);
    expect(await metric(head)).toBe(1);
    const sum = await metric(got.replace('_count', '_sum'));
    expect(sum).toBeGreaterThan(0);
    expect(await metric(got.replace('_count{', '_bucket{le="+Inf",'))).toBe(await metric(got));
  });

  it('put what no route takes, and what can\u2019t be read, under names of their own', async () => {
    await api.ask(null, 'GET /no/such/path/slc_secret');
    await api.ask(null, 'PROPFIND /messages');
    await exchange(api.url, lines('NONSENSE'));
    await exchange(api.url, lines('GET /%zz HTTP/1.1', 'Host: x'));
    const found = [...(await metrics()).keys()].filter((name) => name.startsWith(DURATION));
    expect(found).toContain(`${DURATION}{method="none",route="none",status="400"}`);
    expect(await metric(`${DURATION}{method="none",route="none",status="400"}`)).toBe(2);
    expect(found.join()).toMatch(/method="other",route="[^"]*\*",status="405"/);
    expect(found.join()).not.toMatch(/such|secret|PROPFIND|zz/);
  });

  const begun = (...more: string[]) =>
    lines(
      ...['POST /messages/batch HTTP/1.1', 'Host: sluice', 'Content-Type: application/json'],
      ...[`Authorization: Bearer ${account.key}`, ...more],
    );
  const aborted = `${DURATION}{method="POST",route="/messages/batch",status="aborted"}`;

  it('count a request once, as aborted, whose caller has gone', async () => {
    const before = await metrics();
    const connection = await RawConnection.open(api.url);
    connection.write(begun('Content-Length: 100', 'Expect: 100-continue'));
    // By now the body is being read.
    expect((await connection.answer()).status).toBe(100);
    connection.reset();
    await until(async () => ((await metric(aborted)) ?? 0) > 0, 5_000);
    const after = await metrics();
    const counted = [...after].filter(([name, value]) => name.startsWith(DURATION) && value !== before.get(name));
    expect(counted).toEqual([[aborted, 1]]);
  });

  it('count a request once whose body can\u2019t be read', async () => {
    const before = await metrics();
    const connection = await RawConnection.open(api.url);
    connection.write(begun('Transfer-Encoding: chunked', 'Expect: 100-continue'));
    expect((await connection.answer()).status).toBe(100);
    connection.write('no length\r\n');
    expect((await connection.answer()).status).toBe(400);
    await connection.end();
    connection.close();
    const unreadable = `${DURATION}{method="none",route="none",status="400"}`;
    expect(((await metric(unreadable)) ?? 0) - (before.get(unreadable) ?? 0)).toBe(1);
    expect(await metric(aborted)).toBe(before.get(aborted));
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
    const grown = (name: string) => (after.get(name) ?? NaN) - (before.get(name) ?? NaN);
    const decided = (decision: string) => grown(`sluice_limiter_decisions_total{decision="${decision}"}`);
    const authenticated = (outcome: string) => grown(`sluice_authentications_total{outcome="${outcome}"}`);
    expect({
      admitted: decided('admitted'),
      refused: decided('refused'),
      anonymous: decided('stranger_admitted'),
      operators: decided('operator_admitted'),
    }).toEqual({ admitted: 2, refused: 1, anonymous: 2, operators: 1 });
    expect({
      valid: authenticated('valid'),
      missing: authenticated('missing'),
      invalid: authenticated('invalid'),
      operator: authenticated('operator'),
    }).toEqual({ valid: 3, missing: 1, invalid: 1, operator: 1 });
  });

  it('report batches and what waits', async () => {
    await Promise.all(Array.from({ length: 10 }, () => api.sent(account)));
    const after = await metrics();
    expect(after.get('sluice_batch_items_sum{batches="accept"}')).toBeGreaterThanOrEqual(10);
    expect(after.get('sluice_batch_items_count{batches="hits"}')).toBeGreaterThanOrEqual(1);
    expect(after.get('sluice_batch_waiting_items{batches="accept"}')).toBe(0);
    expect(after.get('sluice_batch_waiting_bytes{batches="accept"}')).toBe(0);
    expect(after.has('sluice_relay_waiting_bytes')).toBe(true);
    await until(async () => ((await metric('sluice_relay_batch_messages_sum')) ?? 0) >= 10, 10_000);
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
      const asked = performance.now();
      const down = await metricsOf(other.managementUrl);
      expect(performance.now() - asked).toBeLessThan(9_000);
      expect(kept.filter((name) => !down.has(name))).toEqual([]);
      expect(ofStore.filter((name) => down.has(name))).toEqual([]);
      await until(async () => (await metricsOf(other.managementUrl)).get('sluice_database_up') === 0, 10_000);
      expect((await metricsOf(other.managementUrl)).get('sluice_ready')).toBe(0);
    } finally {
      link.resume();
    }
  }, 40_000);
});

describe('The metrics of the store', () => {
  const api = ownApi({ RECONCILE_INTERVAL_MS: '86400000' });
  const account = accountOf(api);

  it('report the outbox, the queue, their ages and stray messages', async () => {
    const { id } = await api.sent(account);
    await api.relayed(id);
    await api.sql(
      // One that the queue has refused and that is postponed, and two for later, which are no backlog.
      `INSERT INTO sluice.outbox (message_ids, bytes, created_at, due_at, for_sweeper)
         VALUES ('{a,b}', 1, now() - interval '90 s', now() + interval '30 s', false),
                ('{c}', 1, now() - interval '1 day', now() + interval '30 s', true),
                ('{d}', 1, now() - interval '1 day', now() + interval '1 day', true)`,
    );
    await api.sql('UPDATE bullmq.job SET added_at_ms = added_at_ms - 60000');
    await api.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
         VALUES ('msg_stray', $1, 'x', 'queued', now(), now()), ('msg_done', $1, 'x', 'delivered', now(), now())`,
      [account.id],
    );
    const found = await metricsOf(api.managementUrl);
    expect(found.get('sluice_outbox_entries')).toBe(1);
    expect(found.get('sluice_outbox_messages')).toBe(2);
    expect(found.get('sluice_outbox_oldest_seconds')).toBeGreaterThanOrEqual(90);
    expect(found.get('sluice_queue_jobs{state="waiting"}')).toBe(1);
    expect(found.get('sluice_queue_jobs{state="failed"}')).toBe(0);
    expect(found.get('sluice_queue_oldest_waiting_seconds')).toBeGreaterThanOrEqual(60);
    expect(found.get('sluice_census_violations')).toBe(1);
  });
});

describe('The metrics of a worker', () => {
  const api = ownApi();
  const account = accountOf(api);

  it('count deliveries by their end, and time the handler', async () => {
    const port = String(await freePort());
    const worker = Program.run('test/support/worker-process.mjs', {
      ...{ ...api.environment, MANAGEMENT_PORT: port, MAX_ATTEMPTS: '2', BACKOFF_MS: '1', HANDLED: '/dev/null' },
    });
    try {
      await worker.printed('consuming');
      await api.sent(account, { message: 'deliver' });
      await api.sent(account, { message: 'throw' });
      const ends = async () => {
        const found = await metricsOf(`http://127.0.0.1:${port}`);
        return {
          delivered: found.get('sluice_deliveries_total{outcome="delivered"}'),
          retried: found.get('sluice_deliveries_total{outcome="retried"}'),
          failed: found.get('sluice_deliveries_total{outcome="failed"}'),
          lost: found.get('sluice_deliveries_total{outcome="lost_claim"}'),
          handled: found.get('sluice_handler_duration_seconds_count'),
        };
      };
      const expected = { delivered: 1, retried: 1, failed: 1, lost: 0, handled: 3 };
      await until(async () => JSON.stringify(await ends()) === JSON.stringify(expected), 15_000).catch(() => undefined);
      expect(await ends()).toEqual(expected);
    } finally {
      worker.signal('SIGKILL');
      await worker.ended();
    }
  });
});
