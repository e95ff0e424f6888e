import type { Options } from '../options.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import { Program } from '../parts/program.js';
import { cpuMicros } from '../parts/usage.js';
import { agree, formatFigure, formatSpread, type Check, type Findings } from '../report/report.js';
import { spread } from '../report/stats.js';
import { fillQueue, startWorker, until } from '../targets/sluice.js';
import { rotate } from './rotate.js';

/** The default of WORKER_CONCURRENCY. */
const CONCURRENCY = 50;

const OURS = "Sluice's worker";
const BARE = 'a bare BullMQ worker';

interface Sample {
  readonly worker: string;
  readonly round: number;
  readonly perSecond: number;
  /** CPU microseconds a job. */
  readonly node: number;
  readonly postgres: number;
}

/** How fast a queue is emptied, by Sluice's worker and by a bare BullMQ worker. */
export async function consume(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const run of rotate([measureSluice, measureBare], round)) {
      const store = await fillQueue(bench, options.messages);
      try {
        const sample = { round, ...(await run(bench, store, options.messages, checks)) };
        process.stdout.write(`round ${round}, ${sample.worker}: ${formatFigure(sample.perSecond)} jobs/s\n`);
        samples.push(sample);
      } finally {
        await store.drop();
      }
    }
  }
  return { tables: [table(samples, options)], checks, figures: samples };
}

/** From the start of the first attempt to the last status change, by the clock of the database. */
const SECONDS = `
  SELECT extract(epoch FROM (SELECT max(updated_at) FROM sluice.messages) - min(started_at))::float8 FROM sluice.attempts`;

async function measureSluice(bench: BenchEnvironment, store: BenchDatabase, messages: number, checks: Check[]) {
  const cpu = meter(bench);
  const worker = await startWorker(bench, store);
  const spent = cpu(worker);
  await until(
    async () => (await store.number("SELECT count(*) FROM sluice.messages WHERE status <> 'delivered'")) === 0,
    'Some messages were not delivered',
  );
  const used = spent();
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
  return { worker: OURS, perSecond: messages / seconds, ...perJob(used, messages) };
}

async function measureBare(bench: BenchEnvironment, store: BenchDatabase, messages: number, checks: Check[]) {
  const cpu = meter(bench);
  const env = { DATABASE_URL: store.url, JOBS: String(messages), CONCURRENCY: String(CONCURRENCY) };
  const worker = await Program.start('bench/baselines/bare-worker.js', env, bench.log('bare-worker'));
  const spent = cpu(worker);
  const done = new Promise<{ seconds: number }>((resolve) => {
    worker.child.on('message', (message) => {
      if (typeof message === 'object') resolve(message as { seconds: number });
    });
  });
  const { seconds } = await Promise.race([done, worker.died()]);
  const used = spent();
  await worker.stop();
  checks.push(agree(BARE, { 'jobs left': await store.number('SELECT count(*) FROM bullmq.job'), expected: 0 }));
  return { worker: BARE, perSecond: messages / seconds, ...perJob(used, messages) };
}

/** Measures CPU time: of PostgreSQL from now on, and of the worker from when it is ready. */
function meter(bench: BenchEnvironment) {
  const postgresBefore = cpuMicros(bench.postgresPid);
  return (worker: Program) => {
    const nodeBefore = cpuMicros(worker.pid);
    return () => ({
      node: cpuMicros(worker.pid) - nodeBefore,
      postgres: cpuMicros(bench.postgresPid) - postgresBefore,
    });
  };
}

function perJob({ node, postgres }: { node: number; postgres: number }, jobs: number) {
  return { node: node / jobs, postgres: postgres / jobs };
}

function table(samples: readonly Sample[], { messages }: Options) {
  const of = (worker: string) => samples.filter((sample) => sample.worker === worker);
  const rows = [OURS, BARE].map((worker) => {
    const over = (figureOf: (sample: Sample) => number) => formatSpread(spread(of(worker).map(figureOf)));
    return [worker, over((s) => s.perSecond), over((s) => s.node), over((s) => s.postgres)];
  });
  const ratios = of(OURS).map(
    ({ round, perSecond }) => perSecond / (of(BARE).find((s) => s.round === round)?.perSecond ?? NaN),
  );
  return {
    title: `${messages.toLocaleString('en')} queued messages, an empty handler, ${CONCURRENCY} at a time`,
    columns: ['', 'jobs/s', 'CPU-µs a job: node', 'PostgreSQL'],
    rows,
    notes: [`Sluice's worker does ${formatSpread(spread(ratios))} of the bare one, round by round.`],
  };
}
