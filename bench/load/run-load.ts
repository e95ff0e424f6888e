import { Program } from '../parts/program.js';
import { cpuMeter, peakBytes } from '../parts/usage.js';
import type { Load, GeneratorResult } from './request.js';

/** Process ids whose CPU time is reported, by name. */
export type Watched = Readonly<Record<string, number>>;

export interface LoadResult {
  /** All responses by status, including the warm-up. */
  readonly responses: ReadonlyMap<number, number>;
  readonly lost: number;
  readonly unsent: number;
  /** Responses a second in the measured part, by status. */
  readonly perSecond: ReadonlyMap<number, number>;
  /** Milliseconds, sorted, by status. */
  readonly latencies: ReadonlyMap<number, Float64Array>;
  /** CPU microseconds of the watched processes and the generators per response in the measured part. */
  readonly cpuPerResponse: Readonly<Record<string, number>>;
  /** CPU share of the busiest generator: close to 1, the generator itself is the bottleneck. */
  readonly generatorLoad: number;
  /** Peak memory of the server, in bytes. */
  readonly serverPeakBytes: number;
}

/**
 * Sends a load from several generator processes, split evenly.
 * @param server the process under load
 */
export async function runLoad(
  load: Load,
  server: Program,
  watched: Watched,
  generators: number,
  log: string,
): Promise<LoadResult> {
  const share = {
    ...load,
    connections: Math.ceil(load.connections / generators),
    rate: load.rate === null ? null : load.rate / generators,
  };
  const programs = await Promise.all(
    Array.from({ length: generators }, () => Program.start('bench/load/main.js', {}, log)),
  );
  let meter = cpuMeter({});
  let spent: Record<string, number> = {};
  programs[0]?.child.on('message', (message) => {
    if (message === 'measuring') meter = cpuMeter(watched);
    if (message === 'measured') spent = meter();
  });
  const all = await Promise.race([Promise.all(programs.map((program) => loaded(program, share))), server.died()]);
  const perSecond = summed(all, (one) => scaled(one.measured, 1 / one.seconds));
  const seconds = Math.max(...all.map((one) => one.seconds));
  const generator = all.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
  const total = seconds * [...perSecond.values()].reduce((sum, rate) => sum + rate, 0);
  return {
    responses: summed(all, (one) => one.responses),
    lost: all.reduce((sum, { lost }) => sum + lost, 0),
    unsent: all.reduce((sum, { unsent }) => sum + unsent, 0),
    perSecond,
    latencies: merged(all),
    cpuPerResponse: scaled({ ...spent, generator }, 1 / total),
    generatorLoad: Math.max(...all.map((one) => one.cpuMicros / 1_000_000 / one.seconds)),
    serverPeakBytes: peakBytes(server.pid),
  };
}

async function loaded(generator: Program, load: Load): Promise<GeneratorResult> {
  generator.child.send(load);
  const result = await generator.next<GeneratorResult>();
  generator.child.disconnect();
  return result;
}

export function scaled(figures: Readonly<Record<string | number, number>>, factor: number): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, figure * factor]));
}

function summed(
  all: readonly GeneratorResult[],
  of: (one: GeneratorResult) => Readonly<Record<number, number>>,
): Map<number, number> {
  const sums = new Map<number, number>();
  for (const [status, count] of all.flatMap((one) => Object.entries(of(one)))) {
    sums.set(Number(status), (sums.get(Number(status)) ?? 0) + count);
  }
  return sums;
}

function merged(all: readonly GeneratorResult[]): Map<number, Float64Array> {
  const statuses = new Set(all.flatMap(({ latencies }) => Object.keys(latencies).map(Number)));
  const of = (status: number) => all.flatMap(({ latencies }) => [...(latencies[status] ?? [])]);
  return new Map([...statuses].map((status) => [status, Float64Array.from(of(status)).sort()]));
}
