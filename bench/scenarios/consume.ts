import { scaled } from '../load/run-load.js';
import type { Options } from '../options.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import { Program } from '../parts/program.js';
import { cpuMeter } from '../parts/usage.js';
import { agree, formatFigure, formatSpread, type Check, type Findings, type Table } from '../report/report.js';
import { spread } from '../report/stats.js';
import { fillQueue, startEmptyWorker, waitUntilFinal } from '../targets/sluice.js';
import { rotate } from './rotate.js';

/** The default of WORKER_CONCURRENCY. */
const CONCURRENCY = 50;

const OURS = "Sluice's worker";
const BARE = 'a bare BullMQ worker';

interface Sample {
  readonly worker: string;
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
  for (let round = 1; round <= options.rounds; round++) {
    const runs = options.messages.flatMap((messages) => [measureSluice, measureBare].map((run) => ({ messages, run })));
    for (const { messages, run } of rotate(runs, round)) {
      const store = await fillQueue(bench, messages);
      try {
        const sample = { round, messages, ...(await run(bench, store, messages, checks)) };
        process.stdout.write(`round ${round}, ${sample.worker}: ${formatFigure(sample.perSecond)} jobs/s\n`);
        samples.push(sample);
      } finally {
        await store.drop();
      }
    }
  }
  return { tables: options.messages.map((messages) => table(samples, messages)), checks, figures: samples };
}

/** From the start of the first attempt to the last status change, by the clock of the database. */
const SECONDS = `
  SELECT extract(epoch FROM (SELECT max(updated_at) FROM sluice.messages) - min(started_at))::float8 FROM sluice.attempts`;

async function measureSluice(bench: BenchEnvironment, store: BenchDatabase, messages: number, checks: Check[]) {
  const worker = await startEmptyWorker(bench, store);
  const cpu = meter(bench, worker);
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
    agree(OURS, { 'jobs left': await store.number('SELECT count(*) FROM bullmq.job'), expected: 0 }),
  );
  return { worker: OURS, perSecond: messages / seconds, cpuMicros };
}

async function measureBare(bench: BenchEnvironment, store: BenchDatabase, messages: number, checks: Check[]) {
  const env = { DATABASE_URL: store.url, JOBS: String(messages), CONCURRENCY: String(CONCURRENCY) };
  const worker = await Program.start('bench/baselines/bare-worker.js', env, bench.log('bare-worker'));
  const cpu = meter(bench, worker);
  const { seconds } = await worker.next<{ seconds: number }>();
  const cpuMicros = scaled(cpu(), 1 / messages);
  await worker.stop();
  checks.push(agree(BARE, { 'jobs left': await store.number('SELECT count(*) FROM bullmq.job'), expected: 0 }));
  return { worker: BARE, perSecond: messages / seconds, cpuMicros };
}

function meter(bench: BenchEnvironment, worker: Program) {
  return cpuMeter({ node: worker.pid, PostgreSQL: bench.postgresPid });
}

function table(all: readonly Sample[], messages: number): Table {
  const samples = all.filter((sample) => sample.messages === messages);
  const of = (worker: string) => samples.filter((sample) => sample.worker === worker);
  const rows = [OURS, BARE].map((worker) => {
    const over = (figureOf: (sample: Sample) => number) => formatSpread(spread(of(worker).map(figureOf)));
    const cpu = (name: string) => over((s) => s.cpuMicros[name] ?? NaN);
    return [worker, cpu('node'), cpu('PostgreSQL'), over((s) => s.perSecond)];
  });
  const ratios = of(OURS).map(
    ({ round, perSecond }) => perSecond / (of(BARE).find((s) => s.round === round)?.perSecond ?? NaN),
  );
  return {
    title: `${messages.toLocaleString('en')} queued messages, an empty handler, ${CONCURRENCY} at a time`,
    columns: ['', 'CPU-µs a job: node', 'PostgreSQL', 'jobs/s'],
    rows,
    notes: [`Sluice's worker does ${formatSpread(spread(ratios))} of the bare one, round by round.`],
  };
}
