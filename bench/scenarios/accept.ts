import { autocannon } from '../load/autocannon.js';
import { OutboxAgeSampler } from '../load/outbox-age-sampler.js';
import type { Options } from '../options.js';
import type { BenchEnvironment } from '../parts/environment.js';
import { formatFigure, megabytes, formatSpread, type Check, type Findings, type Table } from '../report/report.js';
import { percentile, spread } from '../report/stats.js';
import { bareFastify, bareInsert, bareTogether, ordinaryStack } from '../targets/baselines.js';
import { makeKeys, seedDatabase } from '../targets/seed.js';
import { profiles, sluice, startSluice } from '../targets/sluice.js';
import type { Target } from '../targets/target.js';
import { figuresOf, loadOf, onlyAccepted, type Figures } from './accepting.js';
import { rotate } from './rotate.js';

const BASELINES = [bareFastify, bareTogether, ordinaryStack];
/** Requests a second at which even a slow machine warms up. */
const SLOWEST_WARM_UP = 2_500;

interface Sample extends Figures {
  readonly target: string;
  readonly callers: number;
  readonly round: number;
  /** Milliseconds; empty for targets without an outbox. */
  readonly outboxAges: readonly number[];
  /** Requests a second by autocannon; null if not measured. */
  readonly autocannon: number | null;
}

interface Measured {
  readonly target: Target;
  readonly callers: number;
  readonly round: number;
  /** Whether autocannon measures the target as well. */
  readonly byAutocannon: boolean;
}

/** How fast messages are accepted, compared with the baselines. */
export async function accept(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const targets = [...profiles(bench), ...BASELINES];
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const manyCallers = options.smoke ? [4] : [64, 256];
  const callersOfAccounts = manyCallers[0] ?? 0;
  const byAccounts = targetsWithAccounts(options.smoke ? [50] : [1, 1_000, 100_000]);
  for (let round = 1; round <= options.rounds; round++) {
    for (const callers of manyCallers) {
      for (const target of rotate(targets, round)) {
        const byAutocannon = callers === manyCallers[0];
        samples.push(await measure(bench, options, { target, callers, round, byAutocannon }, checks));
      }
    }
    for (const target of rotate(byAccounts, round)) {
      const callers = callersOfAccounts;
      samples.push(await measure(bench, options, { target, callers, round, byAutocannon: false }, checks));
    }
    for (const target of rotate([sluice, bareInsert], round)) {
      samples.push(await measure(bench, options, { target, callers: 1, round, byAutocannon: false }, checks));
    }
  }
  const tables = [
    ...manyCallers.map((callers) => comparison(bench, targets, samples, callers)),
    {
      ...table(samples, byAccounts, callersOfAccounts),
      title: `${callersOfAccounts} callers that use the keys of all accounts in turn`,
    },
    oneCaller(samples),
    generators(targets, samples),
  ];
  return { tables, checks, figures: samples };
}

async function measure(
  bench: BenchEnvironment,
  options: Options,
  { target, callers, round, byAutocannon }: Measured,
  checks: Check[],
): Promise<Sample> {
  return bench.use(target, async (serving) => {
    const relays = target === sluice && serving.store !== null ? new OutboxAgeSampler(serving.store) : null;
    // Until every key has been used, to measure neither empty caches nor first rows.
    const warmUpSeconds = Math.max(options.warmUpSeconds, serving.keys.length / SLOWEST_WARM_UP);
    const load = loadOf(serving, callers, { ...options, warmUpSeconds });
    const result = await bench.load(serving, load, options.generators);
    const outboxAges = (await relays?.stop()) ?? [];
    const accepted = result.responses.get(202) ?? 0;
    checks.push(onlyAccepted(target.name, result), ...(await serving.check(accepted)));
    const figures = figuresOf(result);
    const sample = { target: target.name, callers, round, ...figures, outboxAges };
    process.stdout.write(`round ${round}, ${callers} callers, ${target.name}: ${formatFigure(figures.perSecond)}/s\n`);
    if (!byAutocannon) return { ...sample, autocannon: null };
    const requests = Math.max(callers, Math.round(figures.perSecond * options.seconds));
    const other = await autocannon(load, requests);
    checks.push(...(await serving.check(requests)));
    return { ...sample, autocannon: other };
  });
}

/** Sluice with a database that has so many accounts. */
function targetsWithAccounts(counts: readonly number[]): Target[] {
  const all = makeKeys(Math.max(...counts));
  return counts.map((count) => ({
    name: `${count.toLocaleString('en')} ${count === 1 ? 'account' : 'accounts'}`,
    start: async (bench) => {
      const keys = all.slice(0, count);
      const store = await seedDatabase(bench, keys, 0);
      const serving = await startSluice(bench, store);
      return {
        ...serving,
        keys: keys.map(({ key }) => key),
        stop: async () => {
          await serving.stop();
          await store.drop();
        },
      };
    },
  }));
}

function table(samples: readonly Sample[], targets: readonly Target[], callers: number): Omit<Table, 'title'> {
  const rows = targets.map(({ name }) => {
    const own = samples.filter((sample) => sample.target === name && sample.callers === callers);
    const over = (of: (sample: Sample) => number) => formatSpread(spread(own.map(of)));
    const cpu = (part: string) => (own[0]?.cpuMicros[part] === undefined ? '–' : over((s) => s.cpuMicros[part] ?? NaN));
    return [
      ...[name, cpu('node'), cpu('PostgreSQL'), cpu('Redis'), cpu('generator'), over((s) => s.perSecond)],
      ...[over((s) => s.p50), over((s) => s.p99), over((s) => s.p999), over((s) => megabytes(s.peakBytes))],
    ];
  });
  return {
    columns: [
      ...['', 'CPU-µs a message: node', 'PostgreSQL', 'Redis', 'generator', 'requests/s'],
      ...['p50 ms', 'p99 ms', 'p99.9 ms', 'peak memory of node, MiB'],
    ],
    rows,
  };
}

function comparison(
  bench: BenchEnvironment,
  targets: readonly Target[],
  samples: readonly Sample[],
  callers: number,
): Table {
  const ratios = targets.slice(1).map(({ name }) => `${formatSpread(ratio(samples, callers, name))} of ${name}`);
  const ages = samples.filter((s) => s.target === sluice.name && s.callers === callers).flatMap((s) => s.outboxAges);
  const age = percentile(
    [...ages].sort((a, b) => a - b),
    0.99,
  );
  return {
    ...table(samples, targets, callers),
    title: `${callers} callers`,
    notes: [
      `The queue of the ordinary stack is on ${bench.redis === null ? 'the same PostgreSQL' : 'Redis, which syncs every second'}.`,
      `Sluice accepts ${ratios.join(', ')} (requests/s, round by round).`,
      `Age of the oldest outbox entry under load: at most ${formatFigure(age)} ms in 99 % of ${ages.length} samples.`,
    ],
  };
}

/** Sluice's requests per second divided by the requests per second of another target, in the same round. */
function ratio(
  samples: readonly Sample[],
  callers: number,
  other: string,
  by: 'perSecond' | 'autocannon' = 'perSecond',
) {
  const of = (target: string, round: number) =>
    samples.find((s) => s.target === target && s.callers === callers && s.round === round)?.[by] ?? NaN;
  const rounds = [...new Set(samples.map(({ round }) => round))];
  return spread(rounds.map((round) => of(sluice.name, round) / of(other, round)));
}

function oneCaller(samples: readonly Sample[]): Table {
  const rows = [sluice, bareInsert].map(({ name }) => {
    const own = samples.filter((sample) => sample.target === name && sample.callers === 1);
    const over = (of: (sample: Sample) => number) => formatSpread(spread(own.map(of)));
    return [name, over((s) => s.p50), over((s) => s.p99), over((s) => s.p999)];
  });
  return { title: 'One caller', columns: ['', 'p50 ms', 'p99 ms', 'p99.9 ms'], rows };
}

/** Compares two load generators, since each uses CPU of the shared machine. */
function generators(targets: readonly Target[], samples: readonly Sample[]): Table {
  const both = samples.filter(({ autocannon }) => autocannon !== null);
  const callers = both[0]?.callers ?? 0;
  const rows = targets.map(({ name }) => {
    const own = both.filter(({ target }) => target === name);
    const over = (of: (sample: Sample) => number) => formatSpread(spread(own.map(of)));
    return [
      name,
      over((s) => s.perSecond),
      over((s) => s.autocannon ?? NaN),
      over((s) => s.generatorLoad),
      formatSpread(ratio(samples, callers, name)),
      formatSpread(ratio(samples, callers, name, 'autocannon')),
    ];
  });
  return {
    title: `The load generator, ${callers} callers`,
    columns: [
      ...['', 'requests/s by our generator', 'by autocannon', 'its share of a core'],
      ...['Sluice relative to it, by ours', 'by autocannon'],
    ],
    rows,
  };
}
