import { drive, type Driven } from '../../load/drive.js';
import { Memory } from '../../load/memory.js';
import type { Options } from '../../options.js';
import type { Bed } from '../../parts/bed.js';
import { figure, type Check, type Table } from '../../report/report.js';
import { percentile } from '../../report/stats.js';
import { bareTogether } from '../../targets/baselines.js';
import { sluice } from '../../targets/sluice.js';
import type { Serving, Target } from '../../targets/target.js';
import { loadOf, onlyAccepted } from '../accepting.js';

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.25, 1.5, 2];
/** The most requests that are under way: what is due beyond them waits in the generator, and its time counts. */
const CONNECTIONS = 8_000;

export interface Point {
  readonly target: string;
  readonly round: number;
  /** Requests a second: the most of a closed loop, in this round. */
  readonly capacity: number;
  /** Of the capacity. */
  readonly share: number;
  readonly offered: number;
  readonly accepted: number;
  /** Milliseconds from when a request was due to its 202. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Of all answers, how many were 503. */
  readonly refusedShare: number;
  readonly refusedP50: number;
  readonly refusedP99: number;
  /** Bytes of the server over time. */
  readonly memory: readonly number[];
}

/** Each point of the curve with a process and a database of its own, so that none pays for the one before. */
export async function curve(
  bed: Bed,
  options: Options,
  target: Target,
  round: number,
  checks: Check[],
): Promise<Point[]> {
  let capacity = 0;
  for (const callers of options.smoke ? [4] : [64, 256]) {
    const { driven } = await run(bed, options, target, { callers, rate: null }, checks);
    checks.push(onlyAccepted(target.name, driven));
    capacity = Math.max(capacity, driven.perSecond.get(202) ?? 0);
  }
  const points: Point[] = [];
  for (const share of options.smoke ? SHARES.slice(-1) : SHARES) {
    const offered = Math.max(1, share * capacity);
    const callers = options.smoke ? 50 : CONNECTIONS;
    const { driven, memory } = await run(bed, options, target, { callers, rate: offered }, checks);
    points.push({ target: target.name, round, capacity, share, offered, ...pointOf(driven), memory });
    process.stdout.write(
      `round ${round}, ${target.name}, ${share} of ${figure(capacity)}/s: p99 ${figure(points.at(-1)?.p99 ?? NaN)} ms\n`,
    );
  }
  return points;
}

function pointOf(driven: Driven) {
  const accepted = driven.latencies.get(202) ?? [];
  const refused = driven.latencies.get(503) ?? [];
  return {
    accepted: driven.perSecond.get(202) ?? 0,
    p50: percentile(accepted, 0.5),
    p99: percentile(accepted, 0.99),
    p999: percentile(accepted, 0.999),
    refusedShare: refused.length / (refused.length + accepted.length),
    refusedP50: percentile(refused, 0.5),
    refusedP99: percentile(refused, 0.99),
  };
}

async function run(
  bed: Bed,
  options: Options,
  target: Target,
  { callers, rate }: { callers: number; rate: number | null },
  checks: Check[],
) {
  const serving = await bed.start(target);
  try {
    const memory = new Memory(serving.server.pid);
    const load = { ...loadOf(serving, callers, options), rate };
    const driven = await drive(load, serving.server, serving.watched, options.generators, bed.log('generator'));
    const seen = memory.stop();
    checks.push(...(await counted(target, serving, driven)));
    return { driven, memory: seen };
  } finally {
    await serving.stop();
  }
}

/** Only where every request was answered with 202 or 503 is it known how many are stored. Sluice owes that always. */
async function counted(target: Target, serving: Serving, { answers, lost }: Driven): Promise<readonly Check[]> {
  const others = [...answers].filter(([status]) => status !== 202 && status !== 503);
  const known = lost === 0 && others.length === 0;
  const told = others.map(([status, count]) => `${count} × ${status}`).join(', ') || 'no answers but 202 and 503';
  const check = { what: `${target.name}, overload: ${told}, lost: ${lost}`, holds: known || target !== sluice };
  return [check, ...(known ? await serving.check(answers.get(202) ?? 0, answers.get(503) ?? 0) : [])];
}

/** What the generator itself can do: an open loop at the highest rate, against what hardly costs anything. */
export async function generatorAtRate(
  bed: Bed,
  options: Options,
  rate: number,
): Promise<{ table: Table; figures: object }> {
  const serving = await bed.start(bareTogether);
  try {
    const load = { ...loadOf(serving, options.smoke ? 50 : CONNECTIONS, options), rate };
    const driven = await drive(load, serving.server, {}, options.generators, bed.log('generator'));
    const latencies = driven.latencies.get(202) ?? [];
    const answered = driven.perSecond.get(202) ?? 0;
    const figures = {
      rate,
      answered,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      load: driven.generatorLoad,
    };
    return {
      figures,
      table: {
        title: 'The load generator at the highest rate of all',
        columns: ['', 'offered/s', 'answered/s', 'p50 ms', 'p99 ms', 'of a core'],
        rows: [
          [
            bareTogether.name,
            figure(rate),
            figure(answered),
            figure(figures.p50),
            figure(figures.p99),
            figure(figures.load),
          ],
        ],
        notes: ['No time of the curves above is better than these: so much of them is the generator and the machine.'],
      },
    };
  } finally {
    await serving.stop();
  }
}
