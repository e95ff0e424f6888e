import { Program } from '../parts/program.js';
import { cpuMicros, peakBytes } from '../parts/usage.js';
import type { Load, Loaded } from './request.js';

/** Processes whose CPU time is told apart, by name. */
export type Watched = Readonly<Record<string, number>>;

export interface Driven {
  /** Answers in all, by status, also those of the warm-up. */
  readonly answers: ReadonlyMap<number, number>;
  readonly lost: number;
  readonly unsent: number;
  /** Answers a second in the measured part, by status. */
  readonly perSecond: ReadonlyMap<number, number>;
  /** Milliseconds, sorted, by status. */
  readonly latencies: ReadonlyMap<number, Float64Array>;
  /** CPU microseconds of the watched processes for each answer in the measured part. */
  readonly cpuPerAnswer: Readonly<Record<string, number>>;
  /** How much of a core the busiest generator took: near 1, it is the generator that is measured. */
  readonly generatorLoad: number;
  /** The most memory of the server so far, in bytes. */
  readonly serverPeakBytes: number;
}

/**
 * Sends a load from generators in processes of their own, which share it evenly.
 * @param server the process that answers
 */
export async function drive(
  load: Load,
  server: Program,
  watched: Watched,
  generators: number,
  log: string,
): Promise<Driven> {
  const share = {
    ...load,
    connections: Math.ceil(load.connections / generators),
    rate: load.rate === null ? null : load.rate / generators,
  };
  const programs = await Promise.all(
    Array.from({ length: generators }, () => Program.start('bench/load/generator.js', {}, log)),
  );
  const spent: Record<string, number> = {};
  const meter = (sign: 1 | -1) => () => {
    for (const [name, pid] of Object.entries(watched)) spent[name] = (spent[name] ?? 0) + sign * cpuMicros(pid);
  };
  const [first] = programs;
  if (first !== undefined) onWord(first, 'measuring', meter(-1));
  if (first !== undefined) onWord(first, 'measured', meter(1));
  const all = await Promise.race([Promise.all(programs.map((program) => loaded(program, share))), server.died()]);
  const perSecond = summed(all, (one) => scaled(one.measured, 1 / one.seconds));
  const seconds = Math.max(...all.map((one) => one.seconds));
  const answered = seconds * [...perSecond.values()].reduce((sum, rate) => sum + rate, 0);
  return {
    answers: summed(all, (one) => one.answers),
    lost: all.reduce((sum, { lost }) => sum + lost, 0),
    unsent: all.reduce((sum, { unsent }) => sum + unsent, 0),
    perSecond,
    latencies: merged(all),
    cpuPerAnswer: Object.fromEntries(Object.entries(spent).map(([name, micros]) => [name, micros / answered])),
    generatorLoad: Math.max(...all.map((one) => one.cpuMicros / 1_000_000 / one.seconds)),
    serverPeakBytes: peakBytes(server.pid),
  };
}

async function loaded(generator: Program, load: Load): Promise<Loaded> {
  const done = new Promise<Loaded>((resolve) => {
    generator.child.on('message', (message) => {
      if (typeof message === 'object') resolve(message as Loaded);
    });
  });
  generator.child.send(load);
  return Promise.race([done, generator.died()]);
}

function onWord(generator: Program, word: string, then: () => void): void {
  generator.child.on('message', (message) => {
    if (message === word) then();
  });
}

function scaled(counts: Readonly<Record<number, number>>, factor: number): Record<number, number> {
  return Object.fromEntries(Object.entries(counts).map(([status, count]) => [status, count * factor]));
}

function summed(all: readonly Loaded[], of: (one: Loaded) => Readonly<Record<number, number>>): Map<number, number> {
  const sums = new Map<number, number>();
  for (const [status, count] of all.flatMap((one) => Object.entries(of(one)))) {
    sums.set(Number(status), (sums.get(Number(status)) ?? 0) + count);
  }
  return sums;
}

function merged(all: readonly Loaded[]): Map<number, Float64Array> {
  const statuses = new Set(all.flatMap(({ latencies }) => Object.keys(latencies).map(Number)));
  const of = (status: number) => all.flatMap(({ latencies }) => [...(latencies[status] ?? [])]);
  return new Map([...statuses].map((status) => [status, Float64Array.from(of(status)).sort()]));
}
