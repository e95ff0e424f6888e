import { autocannon } from '../load/autocannon.js';
import { drive } from '../load/drive.js';
import { OutboxAges } from '../load/outbox-ages.js';
import type { Options } from '../options.js';
import type { Bed } from '../parts/bed.js';
import { figure, megabytes, told, type Check, type Findings, type Table } from '../report/report.js';
import { percentile, spread } from '../report/stats.js';
import { bareFastify, bareInsert, bareTogether, ordinaryStack } from '../targets/baselines.js';
import { sluice } from '../targets/sluice.js';
import type { Target } from '../targets/target.js';
import { figuresOf, loadOf, onlyAccepted, type Figures } from './accepting.js';
import { turned } from './turns.js';

const TARGETS = [sluice, bareFastify, bareTogether, ordinaryStack];
interface Sample extends Figures {
  readonly target: string;
  readonly callers: number;
  readonly round: number;
  /** Milliseconds; none where nothing is relayed. */
  readonly outboxAges: readonly number[];
  /** Requests a second by autocannon; null where it was not asked. */
  readonly autocannon: number | null;
}

interface Measured {
  readonly target: Target;
  readonly callers: number;
  readonly round: number;
  /** Whether autocannon measures it as well, right afterwards. */
  readonly byAutocannon: boolean;
}

/** How fast messages are taken in, beside what else takes a message in. */
export async function accept(bed: Bed, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const manyCallers = options.smoke ? [4] : [64, 256];
  for (let round = 1; round <= options.rounds; round++) {
    for (const callers of manyCallers) {
      for (const target of turned(TARGETS, round)) {
        const byAutocannon = callers === manyCallers[0];
        samples.push(await measure(bed, options, { target, callers, round, byAutocannon }, checks));
      }
    }
    for (const target of turned([sluice, bareInsert], round)) {
      samples.push(await measure(bed, options, { target, callers: 1, round, byAutocannon: false }, checks));
    }
  }
  const tables = [
    ...manyCallers.map((callers) => table(bed, samples, callers)),
    oneCaller(samples),
    generators(samples),
  ];
  return { tables, checks, figures: samples };
}

async function measure(
  bed: Bed,
  options: Options,
  { target, callers, round, byAutocannon }: Measured,
  checks: Check[],
): Promise<Sample> {
  const serving = await bed.start(target);
  try {
    const relays = target === sluice && serving.store !== null ? new OutboxAges(serving.store) : null;
    const load = loadOf(serving, callers, options);
    const driven = await drive(load, serving.server, serving.watched, options.generators, bed.log('generator'));
    const outboxAges = (await relays?.stop()) ?? [];
    const accepted = driven.answers.get(202) ?? 0;
    checks.push(onlyAccepted(target.name, driven), ...(await serving.check(accepted)));
    const figures = figuresOf(driven);
    const sample = { target: target.name, callers, round, ...figures, outboxAges };
    process.stdout.write(`round ${round}, ${callers} callers, ${target.name}: ${figure(figures.perSecond)}/s\n`);
    if (!byAutocannon) return { ...sample, autocannon: null };
    const requests = Math.max(callers, Math.round(figures.perSecond * options.seconds));
    const other = await autocannon(load, requests);
    checks.push(...(await serving.check(requests)));
    return { ...sample, autocannon: other };
  } finally {
    await serving.stop();
  }
}

function table(bed: Bed, samples: readonly Sample[], callers: number): Table {
  const rows = TARGETS.map(({ name }) => {
    const own = samples.filter((sample) => sample.target === name && sample.callers === callers);
    const over = (of: (sample: Sample) => number) => told(spread(own.map(of)));
    const cpu = (part: string) => (own[0]?.cpuMicros[part] === undefined ? '–' : over((s) => s.cpuMicros[part] ?? NaN));
    return [
      ...[name, over((s) => s.perSecond), over((s) => s.p50), over((s) => s.p99), over((s) => s.p999)],
      ...[cpu('node'), cpu('PostgreSQL'), cpu('Redis'), over((s) => megabytes(s.peakBytes))],
    ];
  });
  const ratios = TARGETS.slice(1).map(({ name }) => `${told(ratio(samples, callers, name))} of ${name}`);
  const ages = samples.filter((s) => s.target === sluice.name && s.callers === callers).flatMap((s) => s.outboxAges);
  const age = percentile(
    [...ages].sort((a, b) => a - b),
    0.99,
  );
  return {
    title: `${callers} callers`,
    columns: [
      ...['', 'requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms'],
      ...['CPU-µs a message: node', 'PostgreSQL', 'Redis', 'peak memory of node, MiB'],
    ],
    rows,
    notes: [
      `The ordinary stack has its queue on ${bed.redis === null ? 'the same PostgreSQL' : 'Redis, which syncs every second'}.`,
      `Sluice accepts ${ratios.join(', ')} (requests/s, round by round).`,
      `What waits in the outbox for the queue while it accepts: 99 % of ${ages.length} looks found nothing older than ${figure(age)} ms.`,
    ],
  };
}

/** Sluice's requests a second by those of another target, in the same round. */
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
    const over = (of: (sample: Sample) => number) => told(spread(own.map(of)));
    return [name, over((s) => s.p50), over((s) => s.p99), over((s) => s.p999)];
  });
  return { title: 'One caller', columns: ['', 'p50 ms', 'p99 ms', 'p99.9 ms'], rows };
}

/** What two generators say of the same servers, since each takes some of the machine that it shares with them. */
function generators(samples: readonly Sample[]): Table {
  const both = samples.filter(({ autocannon }) => autocannon !== null);
  const callers = both[0]?.callers ?? 0;
  const rows = TARGETS.map(({ name }) => {
    const own = both.filter(({ target }) => target === name);
    const over = (of: (sample: Sample) => number) => told(spread(own.map(of)));
    return [
      name,
      over((s) => s.perSecond),
      over((s) => s.autocannon ?? NaN),
      over((s) => s.generatorLoad),
      told(ratio(samples, callers, name)),
      told(ratio(samples, callers, name, 'autocannon')),
    ];
  });
  return {
    title: `The load generator, ${callers} callers`,
    columns: [
      ...['', 'requests/s by ours', 'by autocannon', 'ours took of a core'],
      ...['Sluice of it, by ours', 'by autocannon'],
    ],
    rows,
  };
}
