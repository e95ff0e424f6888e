import { scaled } from '../load/run-load.js';
import type { Options } from '../options.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import { Program } from '../parts/program.js';
import { cpuMeter } from '../parts/usage.js';
import { agree, formatFigure, formatSpread, type Check, type Findings, type Table } from '../report/report.js';
import { ratios, spread } from '../report/stats.js';
import { fillQueue, startEmptyWorker, storesOf, waitUntilFinal, type Store } from '../targets/sluice.js';
import { rotate } from './rotate.js';

/** The default of WORKER_CONCURRENCY. */
const CONCURRENCY = 50;

const OURS = "Sluice's worker";
const BARE = 'a bare BullMQ worker';

interface Sample {
  readonly worker: string;
  readonly store: Store;
  readonly messages: number;
  readonly round: number;
  readonly perSecond: number;
  /** CPU microseconds a job. */
  readonly cpuMicros: Readonly<Record<string, number>>;
}

/** How fast a queue is emptied, by Sluice's worker and by a bare BullMQ worker. */
export async function consume(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const stores = storesOf(bench);
  for (let round = 1; round <= options.rounds; round++) {
    const runs = options.messages.flatMap((messages) =>
      stores.flatMap((store) => [measureSluice, measureBare].map((run) => ({ messages, store, run }))),
    );
    for (const { messages, store, run } of rotate(runs, round)) {
      const queue = await fillQueue(bench, messages, store === 'Redis');
      try {
        const sample = { round, messages, store, ...(await run(bench, queue, messages, checks)) };
        const { worker, perSecond } = sample;
        process.stdout.write(`round ${round}, ${worker} on ${store}: ${formatFigure(perSecond)} jobs/s\n`);
        samples.push(sample);
      } finally {
        await queue.drop();
      }
    }
  }
  const tables = stores.flatMap((store) =>
    options.messages.map((messages) =>
      table(
        samples.filter((sample) => sample.messages === messages),
        messages,
        store,
      ),
    ),
  );
  return { tables, checks, figures: samples };
}

/** From the start of the first attempt to the last status change, by the clock of the database. */
const SECONDS = `
  SELECT extract(epoch FROM (SELECT max(updated_at) FROM sluice.messages) - min(started_at))::float8 FROM sluice.attempts`;

async function measureSluice(bench: BenchEnvironment, store: BenchDatabase, messages: number, checks: Check[]) {
  const worker = await startEmptyWorker(bench, store);
  const cpu = meter(bench, worker, store);
  await Promise.race([waitUntilFinal(store), worker.died()]);
  const cpuMicros = scaled(cpu(), 1 / messages);
  const seconds = await store.number(SECONDS);
  await worker.stop();
  checks.push(
    agree(OURS, {
      messages,
      delivered: await store.number("SELECT count(*) FROM sluice.messages WHERE status = 'delivered'"),
      attempts: await store.number('SELECT count(*) FROM sluice.attempts'),
    }),
    agree(OURS, { 'jobs left': await store.jobs(), expected: 0 }),
  );
  return { worker: OURS, perSecond: messages / seconds, cpuMicros };
}

async function measureBare(bench: BenchEnvironment, store: BenchDatabase, messages: number, checks: Check[]) {
  const queue = { DATABASE_URL: store.url, REDIS_URL: store.redisUrl ?? '' };
  const env = { ...queue, JOBS: String(messages), CONCURRENCY: String(CONCURRENCY) };
  const worker = await Program.start('bench/baselines/bare-worker.js', env, bench.log('bare-worker'));
  const cpu = meter(bench, worker, store);
  const { seconds } = await worker.next<{ seconds: number }>();
  const cpuMicros = scaled(cpu(), 1 / messages);
  await worker.stop();
  checks.push(agree(BARE, { 'jobs left': await store.jobs(), expected: 0 }));
  return { worker: BARE, perSecond: messages / seconds, cpuMicros };
}

function meter(bench: BenchEnvironment, worker: Program, store: BenchDatabase) {
  return cpuMeter({ node: worker.pid, ...bench.servers(store) });
}

function table(samples: readonly Sample[], messages: number, store: Store): Table {
  const servers = store === 'Redis' ? ['PostgreSQL', 'Redis'] : ['PostgreSQL'];
  const of = (worker: string, on = store) => samples.filter((s) => s.worker === worker && s.store === on);
  const rows = [OURS, BARE].map((worker) => {
    const over = (figureOf: (sample: Sample) => number) => formatSpread(spread(of(worker).map(figureOf)));
    const cpu = (name: string) => over((s) => s.cpuMicros[name] ?? NaN);
    return [worker, cpu('node'), ...servers.map(cpu), over((s) => s.perSecond)];
  });
  const relative = (some: readonly Sample[], others: readonly Sample[]) =>
    formatSpread(spread(ratios(some, others, ({ perSecond }) => perSecond)));
  const onPostgres = (worker: string) => relative(of(worker), of(worker, 'PostgreSQL'));
  return {
    title: `${messages.toLocaleString('en')} queued messages on ${store}, an empty handler, ${CONCURRENCY} at a time`,
    columns: ['', 'CPU-µs a job: node', ...servers, 'jobs/s'],
    rows,
    notes: [
      `Sluice's worker does ${relative(of(OURS), of(BARE))} of the bare one, round by round.`,
      ...(store === 'Redis'
        ? [`It does ${onPostgres(OURS)} of its rate on PostgreSQL, and the bare one ${onPostgres(BARE)}.`]
        : []),
    ],
  };
}
