import { scaled } from '../load/run-load.js';
import type { Load } from '../load/request.js';
import type { Options } from '../options.js';
import type { BenchEnvironment } from '../parts/environment.js';
import { BenchRedisCluster } from '../parts/redis.js';
import { cpuMeter } from '../parts/usage.js';
import { agree, formatFigure, formatSpread, type Check, type Findings, type Table } from '../report/report.js';
import { spread } from '../report/stats.js';
import { newStore, startEmptyWorker, startSluice, waitUntilFinal } from '../targets/sluice.js';
import { loadOf, onlyAccepted } from './accepting.js';
import { rotate } from './rotate.js';

const MASTERS = 3;
/** Messages a second: few enough for all processes on two cores. */
const IN_ALL = 400;
const FOR_EACH = 50;
const PARTS = ['Node.js', 'PostgreSQL', 'Redis'];

interface Case {
  /** The table and the row it belongs to. */
  readonly about: string;
  readonly row: string;
  /** Of APIs, and of workers. */
  readonly processes: number;
  /** Of all APIs together. */
  readonly perSecond: number;
  /** On a cluster; null for one Redis. */
  readonly shards: number | null;
}

interface Sample extends Case {
  readonly round: number;
  /** CPU microseconds a message, from its request to its delivery. */
  readonly cpuMicros: Readonly<Record<string, number>>;
}

/** What a message costs with more processes and shards, at rates that leave the machine idle. */
export async function scaling(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const cases = casesOf(bench, options);
  for (let round = 1; round <= options.rounds; round++) {
    for (const one of rotate(cases, round)) {
      const cpuMicros = await measure(bench, options, one, checks);
      samples.push({ ...one, round, cpuMicros });
      const parts = PARTS.map((part) => `${part} ${formatFigure(cpuMicros[part] ?? NaN)}`).join(', ');
      process.stdout.write(`round ${round}, ${one.about}, ${one.row}: ${parts} CPU-µs\n`);
    }
  }
  const tables = [...new Set(cases.map(({ about }) => about))].map((about) => table(about, cases, samples));
  return { tables, checks, figures: samples };
}

/** Without Redis, the queue is on PostgreSQL. */
function casesOf({ redis }: BenchEnvironment, { smoke }: Options): Case[] {
  const processes = smoke ? [2] : [1, 2, 4, 8];
  const shards = redis === null ? [] : smoke ? [2] : [1, 4, 16];
  const row = (count: number) => `${count} of each`;
  return [
    ...processes.map((count) => ({
      about: `${FOR_EACH} messages a second for each API and worker`,
      ...{ row: row(count), processes: count, perSecond: count * FOR_EACH, shards: null },
    })),
    ...(smoke ? [] : processes).map((count) => ({
      about: `${IN_ALL} messages a second, divided among APIs and workers`,
      ...{ row: row(count), processes: count, perSecond: IN_ALL, shards: null },
    })),
    ...shards.map((count) => ({
      about: `${IN_ALL} messages a second on a cluster of ${MASTERS} masters, one API and one worker`,
      ...{ row: `${count} shards`, processes: 1, perSecond: IN_ALL, shards: count },
    })),
  ];
}

async function measure(bench: BenchEnvironment, options: Options, one: Case, checks: Check[]) {
  const { processes, shards, perSecond } = one;
  const cluster = shards === null ? null : await BenchRedisCluster.start(MASTERS);
  const settings = cluster === null ? {} : { ...cluster.settings, QUEUE_SHARDS: String(shards) };
  const store = await newStore(bench, cluster === null);
  const each = Array.from({ length: processes });
  const apis = await Promise.all(each.map(() => startSluice(bench, store, settings)));
  const workers = await Promise.all(each.map(() => startEmptyWorker(bench, store, settings)));
  const keys = apis[0]?.keys ?? [];
  // All APIs count the requests of one account, which costs more than if each had its own.
  const send = async (load: Partial<Load>) => {
    const results = await Promise.all(
      apis.map((api) => bench.load(api, { ...loadOf(api, 64, options), keys, warmUpSeconds: 0, ...load }, 1)),
    );
    checks.push(...results.map((result) => onlyAccepted(one.row, result)));
    await Promise.race([waitUntilFinal(store), ...workers.map((worker) => worker.died())]);
    return results.reduce((total, { responses }) => total + (responses.get(202) ?? 0), 0);
  };
  try {
    const before = await send({
      connections: Math.ceil(64 / processes),
      seconds: Math.min(options.warmUpSeconds, options.seconds),
    });
    const pids = {
      ...Object.fromEntries(
        [...apis.map(({ server }) => server), ...workers].map(({ pid }, n) => [`Node.js ${n}`, pid]),
      ),
      ...(cluster === null ? bench.servers(store) : { ...bench.servers(store), ...cluster.pids }),
    };
    const cpu = cpuMeter(pids);
    const accepted = await send({ rate: perSecond / processes });
    const spent = Object.entries(scaled(cpu(), 1 / accepted));
    checks.push(
      agree(one.row, {
        '202s': before + accepted,
        rows: await store.number('SELECT count(*) FROM sluice.messages'),
        attempts: await store.number("SELECT count(*) FROM sluice.attempts WHERE outcome = 'delivered'"),
      }),
    );
    return Object.fromEntries(
      PARTS.map((part) => [part, sum(Object.fromEntries(spent.filter(([name]) => name.startsWith(part))))]),
    );
  } finally {
    await Promise.all([...workers, ...apis].map((program) => program.stop()));
    await cluster?.stop();
    await store.drop();
  }
}

function sum(figures: Readonly<Record<string, number>>): number {
  return Object.values(figures).reduce((total, figure) => total + figure, 0);
}

function table(about: string, cases: readonly Case[], samples: readonly Sample[]): Table {
  const of = (row: string) => samples.filter((sample) => sample.about === about && sample.row === row);
  const rows = cases.filter((one) => one.about === about).map(({ row }) => row);
  const [first = ''] = rows;
  return {
    title: about,
    columns: ['CPU-µs a message', ...PARTS, 'all', 'of the first row'],
    rows: rows.map((row) => {
      const over = (figureOf: (sample: Sample) => number) => formatSpread(spread(of(row).map(figureOf)));
      const inFirst = (round: number) => sum(of(first).find((sample) => sample.round === round)?.cpuMicros ?? {});
      return [
        ...[row, ...PARTS.map((part) => over(({ cpuMicros }) => cpuMicros[part] ?? NaN))],
        over(({ cpuMicros }) => sum(cpuMicros)),
        over(({ cpuMicros, round }) => sum(cpuMicros) / inFirst(round)),
      ];
    }),
  };
}
