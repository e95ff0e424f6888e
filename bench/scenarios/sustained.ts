import type { Options } from '../options.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import type { Program } from '../parts/program.js';
import { cpuMicros } from '../parts/usage.js';
import { agree, formatFigure, formatSpread, type Check, type Findings } from '../report/report.js';
import { spread } from '../report/stats.js';
import { sluice, startSluice, startWorker, until, type SluiceServing } from '../targets/sluice.js';
import { loadOf, onlyAccepted } from './accepting.js';

interface Running {
  readonly serving: SluiceServing;
  readonly worker: Program;
  /** Waits until everything is delivered and checks the counts. @param accepted requests with status 202 since the last check */
  check(accepted: number): Promise<readonly Check[]>;
  stop(): Promise<void>;
}

interface Sample {
  readonly round: number;
  /** Messages accepted and delivered a second, from the first request until the last delivery. */
  readonly perSecond: number;
  /** Messages accepted a second while the load ran. */
  readonly acceptedPerSecond: number;
  /** CPU microseconds a message, from its request to its delivery. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  /** Offered messages a second in the second part. */
  readonly offered: number;
  /** Milliseconds from a message's `createdAt`, just before it is stored, to the end of its delivery. */
  readonly p50: number;
  readonly p99: number;
}

/** API, worker and PostgreSQL together: messages accepted and delivered at the same time. */
export async function sustained(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    const most = await bench.use(apiAndWorker, (running) => measureMaximum(bench, options, running, checks));
    const offered = most.perSecond / 2;
    const delays = await bench.use(apiAndWorker, (running) => measureAtRate(bench, options, running, offered, checks));
    samples.push({ round, ...most, offered, ...delays });
    process.stdout.write(`round ${round}: ${formatFigure(most.perSecond)} messages/s\n`);
  }
  const over = (of: (sample: Sample) => number) => formatSpread(spread(samples.map(of)));
  const cpu = (part: string) => over((sample) => sample.cpuMicros[part] ?? NaN);
  return {
    tables: [
      {
        title: `Maximum throughput, ${callersOf(options)} callers`,
        columns: [
          ...['', 'accepted and delivered/s', 'accepted/s meanwhile'],
          ...['CPU-µs a message: API', 'worker', 'PostgreSQL'],
        ],
        rows: [
          [
            sluice.name,
            over((s) => s.perSecond),
            over((s) => s.acceptedPerSecond),
            cpu('API'),
            cpu('worker'),
            cpu('PostgreSQL'),
          ],
        ],
        notes: [
          'The first column is the number of messages divided by the time from the first request to the last delivery.',
        ],
      },
      {
        title: 'At half of that rate',
        columns: ['', 'offered/s', 'from accepted to delivered: p50 ms', 'p99 ms'],
        rows: [[sluice.name, over((s) => s.offered), over((s) => s.p50), over((s) => s.p99)]],
      },
    ],
    checks,
    figures: samples,
  };
}

function callersOf({ smoke }: Options): number {
  return smoke ? 4 : 64;
}

const apiAndWorker = {
  start: async (bench: BenchEnvironment): Promise<Running> => {
    const store = await bench.database();
    const [serving, worker] = await Promise.all([startSluice(bench, store), startWorker(bench, store)]);
    let all = 0;
    return {
      serving,
      worker,
      check: (accepted) => delivered(store, (all += accepted)),
      stop: async () => {
        await Promise.all([worker.stop(), serving.stop()]);
        await store.drop();
      },
    };
  },
};

async function measureMaximum(bench: BenchEnvironment, options: Options, running: Running, checks: Check[]) {
  const { serving, worker } = running;
  const { store, server } = serving;
  const parts = { API: server.pid, worker: worker.pid, PostgreSQL: bench.postgresPid };
  const before = Object.values(parts).map(cpuMicros);
  const load = { ...loadOf(serving, callersOf(options), options), warmUpSeconds: 0 };
  const result = await bench.load(serving, load, options.generators);
  const accepted = result.responses.get(202) ?? 0;
  checks.push(onlyAccepted(sluice.name, result), ...(await running.check(accepted)));
  const spent = Object.entries(parts).map(
    ([name, pid], n) => [name, (cpuMicros(pid) - (before[n] ?? 0)) / accepted] as const,
  );
  const seconds = await store.number(
    `SELECT extract(epoch FROM (SELECT max(ended_at) FROM sluice.attempts) - min(created_at))::float8 FROM sluice.messages`,
  );
  return {
    perSecond: accepted / seconds,
    acceptedPerSecond: result.perSecond.get(202) ?? 0,
    cpuMicros: Object.fromEntries(spent),
  };
}

async function measureAtRate(
  bench: BenchEnvironment,
  options: Options,
  running: Running,
  rate: number,
  checks: Check[],
) {
  const { serving } = running;
  const { store } = serving;
  const load = { ...loadOf(serving, 512, options), rate };
  const result = await bench.load(serving, load, options.generators);
  const accepted = result.responses.get(202) ?? 0;
  checks.push(onlyAccepted(sluice.name, result), ...(await running.check(accepted)));
  const [row] = await store.rows<{ p50: number; p99: number }>(
    `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS p50, percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) AS p99
     FROM (
       SELECT (extract(epoch FROM a.ended_at - m.created_at) * 1000)::float8 AS ms
       FROM sluice.messages m JOIN sluice.attempts a ON a.message_id = m.id AND a.outcome = 'delivered'
       WHERE m.created_at >= (SELECT min(created_at) + $1 * interval '1 second' FROM sluice.messages)
     ) AS delays`,
    [load.warmUpSeconds],
  );
  return { p50: row?.p50 ?? NaN, p99: row?.p99 ?? NaN };
}

async function delivered(store: BenchDatabase, accepted: number): Promise<Check[]> {
  await until(
    async () => (await store.number("SELECT count(*) FROM sluice.messages WHERE status <> 'delivered'")) === 0,
    'Some messages were not delivered',
  );
  return [
    agree(sluice.name, {
      '202s': accepted,
      rows: await store.number('SELECT count(*) FROM sluice.messages'),
      attempts: await store.number("SELECT count(*) FROM sluice.attempts WHERE outcome = 'delivered'"),
    }),
  ];
}
