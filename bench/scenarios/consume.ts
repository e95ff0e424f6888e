import type { Options } from '../options.js';
import type { Bed, Store } from '../parts/bed.js';
import { Program } from '../parts/program.js';
import { cpuMicros } from '../parts/usage.js';
import { agree, figure, told, type Check, type Findings } from '../report/report.js';
import { spread } from '../report/stats.js';
import { filled, startWorker, until } from '../targets/sluice.js';
import { turned } from './turns.js';

/** What WORKER_CONCURRENCY is if nobody says otherwise. */
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

/** How fast a queue is emptied: by Sluice's worker and by one that does nothing else. */
export async function consume(bed: Bed, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const run of turned([ours, bare], round)) {
      const store = await filled(bed, options.messages);
      try {
        const sample = { round, ...(await run(bed, store, options.messages, checks)) };
        process.stdout.write(`round ${round}, ${sample.worker}: ${figure(sample.perSecond)} jobs/s\n`);
        samples.push(sample);
      } finally {
        await store.drop();
      }
    }
  }
  return { tables: [table(samples, options)], checks, figures: samples };
}

/** From the beginning of the first attempt to the last change of a status, by the clock of the database. */
const SECONDS = `
  SELECT extract(epoch FROM (SELECT max(updated_at) FROM sluice.messages) - min(started_at))::float8 FROM sluice.attempts`;

async function ours(bed: Bed, store: Store, messages: number, checks: Check[]) {
  const cpu = meter(bed);
  const worker = await startWorker(bed, store);
  const spent = cpu(worker);
  await until(
    async () => (await store.number("SELECT count(*) FROM sluice.messages WHERE status <> 'delivered'")) === 0,
    'Not everything was delivered',
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
    agree(OURS, { 'jobs left': await store.number('SELECT count(*) FROM bullmq.job'), 'to be left': 0 }),
  );
  return { worker: OURS, perSecond: messages / seconds, ...perJob(used, messages) };
}

async function bare(bed: Bed, store: Store, messages: number, checks: Check[]) {
  const cpu = meter(bed);
  const env = { DATABASE_URL: store.url, JOBS: String(messages), CONCURRENCY: String(CONCURRENCY) };
  const worker = await Program.start('bench/baselines/bare-worker.js', env, bed.log('bare-worker'));
  const spent = cpu(worker);
  const done = new Promise<{ seconds: number }>((resolve) => {
    worker.child.on('message', (message) => {
      if (typeof message === 'object') resolve(message as { seconds: number });
    });
  });
  const { seconds } = await Promise.race([done, worker.died()]);
  const used = spent();
  await worker.stop();
  checks.push(agree(BARE, { 'jobs left': await store.number('SELECT count(*) FROM bullmq.job'), 'to be left': 0 }));
  return { worker: BARE, perSecond: messages / seconds, ...perJob(used, messages) };
}

/** CPU time of the database from now on, and of a worker from when it is ready, until the last function is called. */
function meter(bed: Bed) {
  const postgresBefore = cpuMicros(bed.postgresPid);
  return (worker: Program) => {
    const nodeBefore = cpuMicros(worker.pid);
    return () => ({
      node: cpuMicros(worker.pid) - nodeBefore,
      postgres: cpuMicros(bed.postgresPid) - postgresBefore,
    });
  };
}

function perJob({ node, postgres }: { node: number; postgres: number }, jobs: number) {
  return { node: node / jobs, postgres: postgres / jobs };
}

function table(samples: readonly Sample[], { messages }: Options) {
  const of = (worker: string) => samples.filter((sample) => sample.worker === worker);
  const rows = [OURS, BARE].map((worker) => {
    const over = (figureOf: (sample: Sample) => number) => told(spread(of(worker).map(figureOf)));
    return [worker, over((s) => s.perSecond), over((s) => s.node), over((s) => s.postgres)];
  });
  const ratios = of(OURS).map(
    ({ round, perSecond }) => perSecond / (of(BARE).find((s) => s.round === round)?.perSecond ?? NaN),
  );
  return {
    title: `${messages.toLocaleString('en')} queued messages, an empty handler, ${CONCURRENCY} at a time`,
    columns: ['', 'jobs/s', 'CPU-µs a job: node', 'PostgreSQL'],
    rows,
    notes: [`Sluice's worker does ${told(spread(ratios))} of the bare one, round by round.`],
  };
}
