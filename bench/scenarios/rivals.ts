import { scaled } from '../load/run-load.js';
import type { Options } from '../options.js';
import type { BenchEnvironment } from '../parts/environment.js';
import { cpuMeter } from '../parts/usage.js';
import { formatFigure, formatSpread, type Check, type Findings } from '../report/report.js';
import { ratios, spread } from '../report/stats.js';
import { deliveringOrdinaryStack, deliveringRival, deliveringSluice, type Delivering } from '../targets/delivering.js';
import { arrivalsAt, restartClock } from '../targets/receiving.js';
import { readRival } from '../targets/rival.js';
import { profiles } from '../targets/sluice.js';
import { callersOf, loadOf, onlyStatus, SHORT_BODY } from './accepting.js';
import { rotate } from './rotate.js';

const SENT = { path: '/messages', body: SHORT_BODY, status: 202 };
/** They do not belong to what is measured. */
const OTHERS = ['receiver', 'generator'];

interface Sample {
  readonly target: string;
  readonly round: number;
  /** Messages a second. */
  readonly accepted: number;
  /** Messages a second between the first and the last that arrived at the receiver. */
  readonly delivered: number;
  /** CPU microseconds a message, from its request to its delivery. */
  readonly cpuMicros: Readonly<Record<string, number>>;
}

/** Sluice beside other systems that accept messages over HTTP and post them, in turn on one machine. */
export async function rivals(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const { rival, receiverPort } = options;
  const measured = [
    ...profiles(bench).map(deliveringSluice),
    deliveringOrdinaryStack,
    ...(rival === null ? [] : [deliveringRival(readRival(rival), receiverPort)]),
  ];
  const samples: Sample[] = [];
  const checks: Check[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const target of rotate<(typeof measured)[number]>(measured, round)) {
      const sample = await bench.use<Delivering, Sample>(target, async (running) => {
        await measure(bench, { ...options, seconds: options.warmUpSeconds }, running, round, checks);
        return measure(bench, options, running, round, checks);
      });
      process.stdout.write(`round ${round}, ${target.name}: ${formatFigure(sample.delivered)} messages/s\n`);
      samples.push(sample);
    }
  }
  const names = measured.map(({ name }) => name);
  return { tables: [table(samples, names, options)], checks, figures: samples };
}

async function measure(
  bench: BenchEnvironment,
  options: Options,
  running: Delivering,
  round: number,
  checks: Check[],
): Promise<Sample> {
  const { name, serving, pids, receiver, request: { path, body, status } = SENT } = running;
  const load = { ...loadOf(serving, callersOf(options), options), paths: [path], body, warmUpSeconds: 0 };
  restartClock(receiver);
  const cpu = cpuMeter(pids);
  const result = await bench.load({ server: serving.server, watched: {} }, load, options.generators);
  const accepted = result.responses.get(status) ?? 0;
  checks.push(onlyStatus(name, result, status), await running.check(accepted));
  const { first, last } = await arrivalsAt(receiver);
  return {
    ...{ target: name, round },
    accepted: result.perSecond.get(status) ?? 0,
    delivered: (1_000 * accepted) / (last - first),
    cpuMicros: { ...scaled(cpu(), 1 / accepted), generator: result.cpuPerResponse.generator ?? NaN },
  };
}

function table(samples: readonly Sample[], names: readonly string[], options: Options) {
  const of = (name: string) => samples.filter(({ target }) => target === name);
  const over = (name: string, figure: (sample: Sample) => number) => formatSpread(spread(of(name).map(figure)));
  const parts = [...new Set(samples.flatMap(({ cpuMicros }) => Object.keys(cpuMicros)))];
  const [ours = '', ...others] = names;
  const ratio = (name: string, figure: (sample: Sample) => number) =>
    formatSpread(spread(ratios(of(ours), of(name), figure)));
  return {
    title: `${callersOf(options)} callers, messages of 100 bytes, posted to a local receiver`,
    columns: ['', ...names],
    rows: [
      ['accepted/s while delivering', ...names.map((name) => over(name, ({ accepted }) => accepted))],
      ['delivered/s, from the first to the last', ...names.map((name) => over(name, ({ delivered }) => delivered))],
      ['CPU-µs a message', ...names.map((name) => over(name, all))],
      ...parts.map((part) => [part, ...names.map((name) => over(name, ({ cpuMicros }) => cpuMicros[part] ?? 0))]),
    ],
    notes: others.map(
      (name) =>
        `${ours} delivers ${ratio(name, ({ delivered }) => delivered)} of the messages a second of ${name}, at ${ratio(name, all)} of its CPU a message, round by round.`,
    ),
  };
}

/** Without the receiver and the generator. */
function all({ cpuMicros }: Sample): number {
  return Object.entries(cpuMicros).reduce((sum, [part, micros]) => (OTHERS.includes(part) ? sum : sum + micros), 0);
}
