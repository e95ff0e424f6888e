import type { LoadResult } from '../../load/run-load.js';
import { MemorySampler } from '../../load/memory-sampler.js';
import type { Options } from '../../options.js';
import type { BenchEnvironment } from '../../parts/environment.js';
import { formatFigure, type Check, type Table } from '../../report/report.js';
import { percentile } from '../../report/stats.js';
import { bareTogether } from '../../targets/baselines.js';
import { sluice } from '../../targets/sluice.js';
import type { Serving, Target } from '../../targets/target.js';
import { loadOf, onlyAccepted } from '../accepting.js';

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.25, 1.5, 2];
/** The maximum of concurrent requests. Further requests wait in the generator, and that time counts. */
const CONNECTIONS = 8_000;

export interface Point {
  readonly target: string;
  readonly round: number;
  /** Requests a second: the maximum of a closed loop in this round. */
  readonly capacity: number;
  /** Share of the capacity. */
  readonly share: number;
  readonly offered: number;
  readonly accepted: number;
  /** Milliseconds from when a request was due to its 202. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** The share of responses with 503. */
  readonly refusedShare: number;
  readonly refusedP50: number;
  readonly refusedP99: number;
  /** Memory of the server over time, in bytes. */
  readonly memory: readonly number[];
}

/** Each point of the curve uses a new process and a new database. */
export async function curve(
  bench: BenchEnvironment,
  options: Options,
  target: Target,
  round: number,
  checks: Check[],
): Promise<Point[]> {
  let capacity = 0;
  for (const callers of options.smoke ? [4] : [64, 256]) {
    const { result } = await run(bench, options, target, { callers, rate: null }, checks);
    checks.push(onlyAccepted(target.name, result));
    capacity = Math.max(capacity, result.perSecond.get(202) ?? 0);
  }
  const points: Point[] = [];
  for (const share of options.smoke ? SHARES.slice(-1) : SHARES) {
    const offered = Math.max(1, share * capacity);
    const callers = options.smoke ? 50 : CONNECTIONS;
    const { result, memory } = await run(bench, options, target, { callers, rate: offered }, checks);
    points.push({ target: target.name, round, capacity, share, offered, ...pointOf(result), memory });
    process.stdout.write(
      `round ${round}, ${target.name}, ${share} of ${formatFigure(capacity)}/s: p99 ${formatFigure(points.at(-1)?.p99 ?? NaN)} ms\n`,
    );
  }
  return points;
}

function pointOf(result: LoadResult) {
  const accepted = result.latencies.get(202) ?? [];
  const refused = result.latencies.get(503) ?? [];
  return {
    accepted: result.perSecond.get(202) ?? 0,
    p50: percentile(accepted, 0.5),
    p99: percentile(accepted, 0.99),
    p999: percentile(accepted, 0.999),
    refusedShare: refused.length / (refused.length + accepted.length),
    refusedP50: percentile(refused, 0.5),
    refusedP99: percentile(refused, 0.99),
  };
}

async function run(
  bench: BenchEnvironment,
  options: Options,
  target: Target,
  { callers, rate }: { callers: number; rate: number | null },
  checks: Check[],
) {
  return bench.use(target, async (serving) => {
    const memory = new MemorySampler(serving.server.pid);
    const load = { ...loadOf(serving, callers, options), rate };
    const result = await bench.load(serving, load, options.generators);
    const seen = memory.stop();
    checks.push(...(await checkCounts(target, serving, result)));
    return { result, memory: seen };
  });
}

/** The number of stored messages is known only if every response was 202 or 503. Sluice must always ensure that. */
async function checkCounts(
  target: Target,
  serving: Serving,
  { responses, lost }: LoadResult,
): Promise<readonly Check[]> {
  const others = [...responses].filter(([status]) => status !== 202 && status !== 503);
  const known = lost === 0 && others.length === 0;
  const counts = others.map(([status, count]) => `${count} × ${status}`).join(', ') || 'no responses but 202 and 503';
  const check = { what: `${target.name}, overload: ${counts}, lost: ${lost}`, holds: known || target !== sluice };
  return [check, ...(known ? await serving.check(responses.get(202) ?? 0, responses.get(503) ?? 0) : [])];
}

/** The limit of the generator: the highest rate against a server that does almost nothing. */
export async function generatorAtRate(
  bench: BenchEnvironment,
  options: Options,
  rate: number,
): Promise<{ table: Table; figures: object }> {
  return bench.use(bareTogether, async (serving) => {
    const load = { ...loadOf(serving, options.smoke ? 50 : CONNECTIONS, options), rate };
    const result = await bench.load(serving, load, options.generators);
    const latencies = result.latencies.get(202) ?? [];
    const perSecond = result.perSecond.get(202) ?? 0;
    const figures = {
      rate,
      perSecond,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      load: result.generatorLoad,
    };
    return {
      figures,
      table: {
        title: 'The load generator at the highest rate',
        columns: ['', 'offered/s', 'responses/s', 'p50 ms', 'p99 ms', 'of a core'],
        rows: [
          [
            bareTogether.name,
            formatFigure(rate),
            formatFigure(perSecond),
            formatFigure(figures.p50),
            formatFigure(figures.p99),
            formatFigure(figures.load),
          ],
        ],
        notes: [
          'The curves above cannot be better than these times, which are those of the generator and the machine.',
        ],
      },
    };
  });
}
