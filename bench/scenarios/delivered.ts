import { scaled } from '../load/run-load.js';
import type { Load } from '../load/request.js';
import type { Options } from '../options.js';
import type { BenchEnvironment } from '../parts/environment.js';
import { cpuMeter } from '../parts/usage.js';
import { formatFigure, formatSpread, type Check, type Findings } from '../report/report.js';
import { spread } from '../report/stats.js';
import { deliveringSluice, type DeliveringSluice } from '../targets/delivering.js';
import { profiles } from '../targets/sluice.js';
import { callersOf, loadOf, onlyAccepted, SHORT_BODY } from './accepting.js';
import { rotate } from './rotate.js';

/** Whose CPU time is that of a message. */
const PARTS = ['API', 'worker', 'PostgreSQL', 'Redis'];
/** Messages a second at which batches are small. */
const STEADY_RATE = 400;
/** The maximum of concurrent requests on schedule. */
const CONNECTIONS = 512;

/** Rates in messages a second, and times in milliseconds from a message's `createdAt` to the end of its delivery. */
interface Figures {
  readonly accepted: number;
  /** While messages were accepted. */
  readonly meanwhile: number;
  /** After the last message was accepted. */
  readonly draining: number;
  /** From the first accepted message to the last delivery. */
  readonly both: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU microseconds a message, from its request to its delivery. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  /** A message. */
  readonly wal: Wal;
}

interface Wal {
  readonly bytes: number;
  readonly fsyncs: number;
}

interface Sample {
  readonly target: string;
  readonly round: number;
  readonly most: Figures;
  /** At half of that rate. */
  readonly half: Figures;
  /** At `STEADY_RATE`. */
  readonly steady: Figures;
}

/** API, worker and servers together: messages are accepted and delivered over HTTP at the same time. */
export async function delivered(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const measured = profiles(bench).map(deliveringSluice);
  for (let round = 1; round <= options.rounds; round++) {
    for (const target of rotate(measured, round)) {
      const figures = await bench.use(target, (running) => measure(bench, options, running, checks));
      samples.push({ target: target.name, round, ...figures });
      process.stdout.write(`round ${round}, ${target.name}: ${formatFigure(figures.most.both)} messages/s\n`);
    }
  }
  const names = measured.map(({ name }) => name);
  const over = (target: string, of: (sample: Sample) => number) =>
    formatSpread(spread(samples.filter((sample) => sample.target === target).map(of)));
  const each = (of: (sample: Sample) => number) => names.map((name) => over(name, of));
  const cpu = (part: string) => each(({ most }) => most.cpuMicros[part] ?? 0);
  const all = ({ cpuMicros }: Figures) => PARTS.reduce((sum, part) => sum + (cpuMicros[part] ?? 0), 0);
  const times = (name: string, of: (sample: Sample) => Figures) => [
    ...[over(name, (sample) => of(sample).p50), over(name, (sample) => of(sample).p99)],
    over(name, (sample) => all(of(sample))),
  ];
  return {
    tables: [
      {
        title: `${callersOf(options)} callers, messages of 100 bytes, posted to a local receiver`,
        columns: ['CPU-µs a message', ...names],
        rows: [
          [PARTS.join(', '), ...each(({ most }) => all(most))],
          ...[...PARTS, 'receiver', 'generator'].map((part) => [part, ...cpu(part)]),
        ],
      },
      {
        title: 'WAL of PostgreSQL',
        columns: ['a message', ...names],
        rows: [
          ['bytes', ...each(({ most }) => most.wal.bytes)],
          ['fsyncs', ...each(({ most }) => most.wal.fsyncs)],
        ],
      },
      {
        title: 'Messages a second',
        columns: ['', ...names],
        rows: [
          ['accepted while delivering', ...each(({ most }) => most.accepted)],
          ['delivered meanwhile', ...each(({ most }) => most.meanwhile)],
          ['delivered afterwards, until the queue is empty', ...each(({ most }) => most.draining)],
          ['from the first request to the last delivery', ...each(({ most }) => most.both)],
        ],
      },
      {
        title: `From accepted to delivered, at half of the last rate and at ${STEADY_RATE} a second`,
        columns: ['', 'offered/s', 'p50 ms', 'p99 ms', 'CPU-µs a message'],
        rows: names.flatMap((name) => [
          [name, over(name, ({ most }) => most.both / 2), ...times(name, ({ half }) => half)],
          [name, String(STEADY_RATE), ...times(name, ({ steady }) => steady)],
        ]),
      },
    ],
    checks,
    figures: samples,
  };
}

async function measure(bench: BenchEnvironment, options: Options, running: DeliveringSluice, checks: Check[]) {
  const { serving } = running;
  const load = { ...loadOf(serving, callersOf(options), options), body: SHORT_BODY, warmUpSeconds: 0 };
  const run = (changed: Partial<Load>) => runAndDrain(bench, options, running, { ...load, ...changed }, checks);
  await run({ seconds: options.warmUpSeconds });
  const most = await run({});
  const half = await run({ connections: CONNECTIONS, rate: most.both / 2 });
  const steady = await run({ connections: CONNECTIONS, rate: STEADY_RATE });
  return { most, half, steady };
}

async function runAndDrain(
  bench: BenchEnvironment,
  { generators }: Options,
  running: DeliveringSluice,
  load: Load,
  checks: Check[],
): Promise<Figures> {
  const { name, serving, pids } = running;
  const since = await serving.store.number('SELECT extract(epoch FROM now())');
  const [before] = await serving.store.rows<Wal>(WAL);
  const cpu = cpuMeter(pids);
  const result = await bench.load(serving, load, generators);
  const accepted = result.responses.get(202) ?? 0;
  checks.push(onlyAccepted(name, result), await running.check(accepted));
  const cpuMicros = { ...scaled(cpu(), 1 / accepted), generator: result.cpuPerResponse.generator ?? NaN };
  const [after] = await serving.store.rows<Wal>(WAL);
  const grown = (name: keyof Wal) => ((after?.[name] ?? NaN) - (before?.[name] ?? NaN)) / accepted;
  const wal = { bytes: grown('bytes'), fsyncs: grown('fsyncs') };
  const [rates] = await serving.store.rows<Omit<Figures, 'accepted' | 'cpuMicros' | 'wal'>>(RATES, [
    since,
    load.seconds,
  ]);
  if (rates === undefined) throw new Error('No message was delivered.');
  return { ...rates, accepted: result.perSecond.get(202) ?? 0, cpuMicros, wal };
}

/** Since the server was started. Its processes report their fsyncs about once a second. */
const WAL = `
  SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes, sum(fsyncs)::float8 AS fsyncs
  FROM pg_stat_io WHERE object = 'wal'`;

/** Of the messages created since $1, in a load of $2 seconds. */
const RATES = `
  WITH deliveries AS (
    SELECT extract(epoch FROM m.created_at)::float8 AS created, extract(epoch FROM a.ended_at)::float8 AS ended
    FROM sluice.messages m JOIN sluice.attempts a ON a.message_id = m.id AND a.outcome = 'delivered'
    WHERE m.created_at >= to_timestamp($1)
  ), ends AS (
    SELECT min(created) AS first, max(created) AS last, max(ended) AS done FROM deliveries
  )
  SELECT count(*) FILTER (WHERE ended <= last) / $2::float8 AS meanwhile,
         count(*) FILTER (WHERE ended > last) / (done - last) AS draining,
         count(*) / (done - first) AS both,
         1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY ended - created) AS p50,
         1000 * percentile_cont(0.99) WITHIN GROUP (ORDER BY ended - created) AS p99
  FROM deliveries, ends GROUP BY first, last, done`;
