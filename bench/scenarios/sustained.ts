import { drive } from '../load/drive.js';
import type { Options } from '../options.js';
import type { Bed, Store } from '../parts/bed.js';
import type { Program } from '../parts/program.js';
import { cpuMicros } from '../parts/usage.js';
import { agree, figure, told, type Check, type Findings } from '../report/report.js';
import { spread } from '../report/stats.js';
import { sluice, startSluice, startWorker, until, type SluiceServing } from '../targets/sluice.js';
import { loadOf, onlyAccepted } from './accepting.js';

interface Running {
  readonly serving: SluiceServing;
  readonly worker: Program;
  /** Waits until all is delivered, and compares. @param accepted how many got 202 since the last check */
  check(accepted: number): Promise<readonly Check[]>;
  stop(): Promise<void>;
}

interface Sample {
  readonly round: number;
  /** Messages accepted and delivered a second, from the first request until the last delivery. */
  readonly perSecond: number;
  /** Messages accepted a second while callers came. */
  readonly acceptedPerSecond: number;
  /** CPU microseconds a message, from its request to its delivery. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  /** Messages a second of the second part. */
  readonly offered: number;
  /** Milliseconds from a message's `createdAt`, just before it is stored, to the end of its delivery. */
  readonly p50: number;
  readonly p99: number;
}

/** API, worker and PostgreSQL together: what goes in and comes out at the same time. */
export async function sustained(bed: Bed, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    const most = await withBoth(bed, (running) => asMuchAsGoes(bed, options, running, checks));
    const offered = most.perSecond / 2;
    const delays = await withBoth(bed, (running) => atARate(bed, options, running, offered, checks));
    samples.push({ round, ...most, offered, ...delays });
    process.stdout.write(`round ${round}: ${figure(most.perSecond)} messages/s\n`);
  }
  const over = (of: (sample: Sample) => number) => told(spread(samples.map(of)));
  const cpu = (part: string) => over((sample) => sample.cpuMicros[part] ?? NaN);
  return {
    tables: [
      {
        title: `As much as goes, ${callersOf(options)} callers`,
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
          'The first column is all messages by the time from the first request until the last of them was delivered.',
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

const both = {
  start: async (bed: Bed): Promise<Running> => {
    const store = await bed.database();
    const [serving, worker] = await Promise.all([startSluice(bed, store), startWorker(bed, store)]);
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

async function withBoth<T>(bed: Bed, work: (running: Running) => Promise<T>): Promise<T> {
  const running = await bed.start(both);
  try {
    return await work(running);
  } finally {
    await running.stop();
  }
}

async function asMuchAsGoes(bed: Bed, options: Options, running: Running, checks: Check[]) {
  const { serving, worker } = running;
  const { store, server } = serving;
  const parts = { API: server.pid, worker: worker.pid, PostgreSQL: bed.postgresPid };
  const before = Object.values(parts).map(cpuMicros);
  const load = { ...loadOf(serving, callersOf(options), options), warmUpSeconds: 0 };
  const driven = await drive(load, server, {}, options.generators, bed.log('generator'));
  const accepted = driven.answers.get(202) ?? 0;
  checks.push(onlyAccepted(sluice.name, driven), ...(await running.check(accepted)));
  const spent = Object.entries(parts).map(
    ([name, pid], n) => [name, (cpuMicros(pid) - (before[n] ?? 0)) / accepted] as const,
  );
  const seconds = await store.number(
    `SELECT extract(epoch FROM (SELECT max(ended_at) FROM sluice.attempts) - min(created_at))::float8 FROM sluice.messages`,
  );
  return {
    perSecond: accepted / seconds,
    acceptedPerSecond: driven.perSecond.get(202) ?? 0,
    cpuMicros: Object.fromEntries(spent),
  };
}

async function atARate(bed: Bed, options: Options, running: Running, rate: number, checks: Check[]) {
  const { serving } = running;
  const { store, server } = serving;
  const load = { ...loadOf(serving, 512, options), rate };
  const driven = await drive(load, server, {}, options.generators, bed.log('generator'));
  const accepted = driven.answers.get(202) ?? 0;
  checks.push(onlyAccepted(sluice.name, driven), ...(await running.check(accepted)));
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

async function delivered(store: Store, accepted: number): Promise<Check[]> {
  await until(
    async () => (await store.number("SELECT count(*) FROM sluice.messages WHERE status <> 'delivered'")) === 0,
    'Not everything was delivered',
  );
  return [
    agree(sluice.name, {
      '202s': accepted,
      rows: await store.number('SELECT count(*) FROM sluice.messages'),
      attempts: await store.number("SELECT count(*) FROM sluice.attempts WHERE outcome = 'delivered'"),
    }),
  ];
}
