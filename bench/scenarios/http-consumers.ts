import { Agent, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { Options } from '../options.js';
import type { BenchDatabase, BenchEnvironment } from '../parts/environment.js';
import { cpuMeter, residentBytes } from '../parts/usage.js';
import { scaled } from '../load/run-load.js';
import { agree, formatFigure, formatSpread, type Check, type Findings, type Table } from '../report/report.js';
import { percentile, ratios, spread } from '../report/stats.js';
import { fillQueue, sendAll, signUp, sluiceAlone, startEmptyWorker, TEXT, waitUntilFinal } from '../targets/sluice.js';
import { rotate } from './rotate.js';
import { measureNeighbour, measureWebhooks } from './webhooks.js';

/** Messages of a lease, and of an acknowledgement. */
const AT_ONCE = 100;
/** Clients that lease and acknowledge, each one request after another. */
const CONSUMERS = 8;
/** Requests of an account that may wait in one process. */
const PER_ACCOUNT = 1_000;
const MEBIBYTE = 1_048_576;

const PULL = 'clients that pull';
const WORKER = "Sluice's worker";

interface Sample {
  readonly consumer: string;
  readonly round: number;
  readonly perSecond: number;
  readonly cpuMicros: Readonly<Record<string, number>>;
}

interface Leased {
  readonly data: readonly { readonly id: string; readonly leaseToken: string }[];
}

/** How fast clients pull messages, beside the built-in worker; a lease with many messages; and many waiting ones. */
export async function httpConsumers(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const messages = options.messages[0] ?? 0;
  const samples: Sample[] = [];
  const checks: Check[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const measure of rotate([measurePull, measureWorker], round)) {
      const sample = { round, ...(await measure(bench, messages, checks)) };
      process.stdout.write(`round ${round}, ${sample.consumer}: ${formatFigure(sample.perSecond)} messages/s\n`);
      samples.push(sample);
    }
  }
  const waiting = await measureWaiting(bench, options.longPolls, checks);
  const leases = await measureLeases(bench, options.backlog, options.smoke ? 20 : 500);
  return {
    tables: [
      rates(samples, messages),
      leases,
      waiting,
      await measureWebhooks(bench, options, checks),
      await measureNeighbour(bench, options, checks),
    ],
    checks,
    figures: samples,
  };
}

const agent = new Agent({ keepAlive: true });

/** A request of a client that keeps its connection. */
function post<Answer>(url: string, key: string, path: string, body: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const payload = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) },
    };
    request(url + path, { method: path === '/account' ? 'PATCH' : 'POST', headers, agent }, (response) => {
      textOf(response)
        .then((answer) => {
          if ((response.statusCode ?? 500) >= 300)
            throw new Error(`${path} returned ${response.statusCode}: ${answer}`);
          resolve((answer === '' ? null : JSON.parse(answer)) as Answer);
        })
        .catch(reject);
    })
      .on('error', reject)
      .end(payload);
  });
}

async function measurePull(bench: BenchEnvironment, messages: number, checks: Check[]) {
  const serving = await sluiceAlone(bench);
  const { store, url } = serving;
  const [key = ''] = serving.keys;
  await post(url, key, '/account', { delivery: 'pull' });
  await sendAll(serving, messages);
  const cpu = cpuMeter(serving.watched);
  const startedAt = performance.now();
  let acknowledged = 0;
  const consume = async () => {
    for (;;) {
      const lease = { max: AT_ONCE, seconds: 600 };
      const { data } = await post<Leased>(url, key, '/messages/lease', lease);
      if (data.length === 0) return;
      const items = data.map(({ id, leaseToken }) => ({ id, leaseToken }));
      const results = await post<{ data: { result: string }[] }>(url, key, '/messages/ack', { leases: items });
      acknowledged += results.data.filter(({ result }) => result === 'acknowledged').length;
    }
  };
  await Promise.all(Array.from({ length: CONSUMERS }, consume));
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuMicros = scaled(cpu(), 1 / messages);
  checks.push(agree(PULL, { messages, acknowledged, ...(await stored(store)) }));
  await serving.stop();
  return { consumer: PULL, perSecond: messages / seconds, cpuMicros };
}

async function measureWorker(bench: BenchEnvironment, messages: number, checks: Check[]) {
  const store = await fillQueue(bench, messages);
  const worker = await startEmptyWorker(bench, store);
  const cpu = cpuMeter({ node: worker.pid, PostgreSQL: bench.postgresPid });
  await Promise.race([waitUntilFinal(store), worker.died()]);
  const cpuMicros = scaled(cpu(), 1 / messages);
  const seconds = await store.number(`
    SELECT extract(epoch FROM (SELECT max(updated_at) FROM sluice.messages) - min(started_at))::float8
    FROM sluice.attempts`);
  checks.push(agree(WORKER, { messages, ...(await stored(store)) }));
  await worker.stop();
  await store.drop();
  return { consumer: WORKER, perSecond: messages / seconds, cpuMicros };
}

async function stored(store: BenchDatabase) {
  return {
    delivered: await store.number("SELECT count(*) FROM sluice.messages WHERE status = 'delivered'"),
    attempts: await store.number("SELECT count(*) FROM sluice.attempts WHERE outcome = 'delivered'"),
  };
}

function rates(samples: readonly Sample[], messages: number): Table {
  const of = (consumer: string) => samples.filter((sample) => sample.consumer === consumer);
  const rows = [PULL, WORKER].map((consumer) => {
    const over = (figureOf: (sample: Sample) => number) => formatSpread(spread(of(consumer).map(figureOf)));
    const cpu = (name: string) => over(({ cpuMicros }) => cpuMicros[name] ?? NaN);
    return [consumer, cpu('node'), cpu('PostgreSQL'), over(({ perSecond }) => perSecond)];
  });
  const share = spread(ratios(of(PULL), of(WORKER), ({ perSecond }) => perSecond));
  return {
    title: `${messages.toLocaleString('en')} queued messages: ${CONSUMERS} clients that lease and acknowledge ${AT_ONCE} at a time, and the worker with an empty handler`,
    columns: ['', 'CPU-µs a message: node', 'PostgreSQL', 'messages/s'],
    rows,
    notes: [`Clients that pull get ${formatSpread(share)} of what the worker delivers, round by round.`],
  };
}

/** Messages of an account that may be leased. */
const FILL = `
  INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, delivery, available_at)
  SELECT 'msg_01m7' || lpad(n::text, 22, '0'), (SELECT id FROM sluice.accounts), $2, 'queued', now(), now(), 'pull', now()
  FROM generate_series(1, $1::int) n`;

async function measureLeases(bench: BenchEnvironment, backlog: number, times: number): Promise<Table> {
  const serving = await sluiceAlone(bench);
  const [key = ''] = serving.keys;
  const { store, url } = serving;
  for (let filled = 0; filled < backlog; filled += 100_000) {
    const count = Math.min(100_000, backlog - filled);
    await store.rows(FILL.replace('n::text', `(n + ${filled})::text`), [count, TEXT]);
  }
  // Otherwise autovacuum and the next checkpoint would run during the measurement.
  await store.rows('VACUUM (ANALYZE)');
  await store.rows('CHECKPOINT');
  for (let count = 0; count < times / 2; count++) await post(url, key, '/messages/lease', { max: 1 });
  const rows = [];
  for (const max of [1, 10, AT_ONCE]) {
    const latencies: number[] = [];
    for (let count = 0; count < times && count * max < backlog / 4; count++) {
      const startedAt = performance.now();
      await post(url, key, '/messages/lease', { max, seconds: 600 });
      latencies.push(performance.now() - startedAt);
    }
    const sorted = latencies.sort((a, b) => a - b);
    rows.push([`${max}`, formatFigure(percentile(sorted, 0.5)), formatFigure(percentile(sorted, 0.99))]);
  }
  await serving.stop();
  return {
    title: `One client after another with ${backlog.toLocaleString('en')} messages of its account waiting`,
    columns: ['messages of a lease', 'p50, ms', 'p99, ms'],
    rows,
    notes: [],
  };
}

async function measureWaiting(bench: BenchEnvironment, count: number, checks: Check[]): Promise<Table> {
  const serving = await sluiceAlone(bench, { MAX_CONNECTIONS: String(2 * count + 100) });
  const { url, server } = serving;
  const keys: string[] = [];
  for (let sum = 0; sum < count; sum += PER_ACCOUNT) keys.push(await signUp(url));
  for (const key of keys) await post(url, key, '/account', { delivery: 'pull' });
  const before = residentBytes(server.pid);
  const latencies: number[] = [];
  let sentAt = 0;
  const answered = Array.from({ length: count }, async (_, index) => {
    const key = keys[Math.floor(index / PER_ACCOUNT)] ?? '';
    const { data } = await post<Leased>(url, key, '/messages/lease', { max: 1, wait: 20 });
    if (data.length === 1) latencies.push(performance.now() - sentAt);
  });
  await new Promise((resolve) => setTimeout(resolve, Math.max(500, count)));
  const cpu = cpuMeter(serving.watched);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const idle = cpu();
  const after = residentBytes(server.pid);
  sentAt = performance.now();
  for (const [index, key] of keys.entries()) {
    const messages = Array.from({ length: Math.min(PER_ACCOUNT, count - index * PER_ACCOUNT) }, () => ({
      message: TEXT,
    }));
    await post(url, key, '/messages/batch', { messages });
  }
  await Promise.all(answered);
  const sorted = latencies.sort((a, b) => a - b);
  checks.push(agree('waiting leases', { requests: count, 'answered with a message': latencies.length }));
  await serving.stop();
  return {
    title: `${count.toLocaleString('en')} waiting requests of ${keys.length} accounts on one process, each answered with one message`,
    columns: ['', ''],
    rows: [
      ['memory of the process before, MiB', formatFigure(before / MEBIBYTE)],
      ['while all wait, MiB', formatFigure(after / MEBIBYTE)],
      ['CPU-ms of the process in a second in which all wait', formatFigure((idle.node ?? NaN) / 1_000)],
      ['half are answered after, ms', formatFigure(percentile(sorted, 0.5))],
      ['all are answered after, ms', formatFigure(sorted.at(-1) ?? NaN)],
    ],
    notes: ['Times begin with the first of the batches that send the messages, an account each.'],
  };
}
