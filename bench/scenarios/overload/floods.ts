import { drive, type Driven } from '../../load/drive.js';
import type { Load } from '../../load/request.js';
import type { Options } from '../../options.js';
import type { Bed } from '../../parts/bed.js';
import { figure, told, type Check, type Table } from '../../report/report.js';
import { percentile, spread } from '../../report/stats.js';
import { bareFastify } from '../../targets/baselines.js';
import { signUp, sluiceAlone, type SluiceServing } from '../../targets/sluice.js';
import { loadOf } from '../accepting.js';

/** Requests a second of the good caller. */
const GOOD_RATE = 50;
const BAD_KEY = `slc_${'0'.repeat(40)}`;
/** Strangers are counted by their address, and here they all have the same: with the default they would soon get 429. */
const SLUICE = { start: (bed: Bed) => sluiceAlone(bed, { ANONYMOUS_PER_MINUTE: '1000000' }) };

export interface Flood {
  readonly kind: string;
  readonly round: number;
  /** Refusals a second, of the flood alone and beside the good caller. */
  readonly refused: number;
  readonly refusedBeside: number;
  /** What bare Fastify answers alone, in the same round. */
  readonly bare: number;
  /** Milliseconds of another caller, with a key that is good. */
  readonly goodP50: number;
  readonly goodP99: number;
  readonly aloneP50: number;
  readonly aloneP99: number;
}

/** Floods of requests that are refused, while somebody else sends messages. */
export async function floods(bed: Bed, options: Options, round: number, checks: Check[]): Promise<Flood[]> {
  const callers = options.smoke ? 4 : 64;
  const bare = await answeredByBareFastify(bed, options, callers);
  const kinds = [
    { kind: 'a spent key: 429', expected: [429], key: (serving: SluiceServing) => spentKey(serving.url) },
    { kind: 'unknown keys: 401', expected: [401], key: () => Promise.resolve(BAD_KEY) },
  ];
  const found: Flood[] = [];
  for (const { kind, expected, key } of kinds) {
    const serving = await bed.start(SLUICE);
    try {
      const log = bed.log('generator');
      const good = { ...loadOf(serving, 16, options), rate: GOOD_RATE };
      const bad: Load = { ...loadOf(serving, callers, options), keys: [await key(serving)] };
      const alone = await drive(good, serving.server, {}, 1, log);
      const flood = await drive(bad, serving.server, serving.watched, options.generators, log);
      const [meanwhile, beside] = await Promise.all([
        drive(good, serving.server, {}, 1, log),
        drive(bad, serving.server, serving.watched, options.generators, log),
      ]);
      checks.push(only(`the good caller beside ${kind}`, [202], meanwhile));
      checks.push(only(kind, expected, flood), only(`${kind}, beside the good caller`, expected, beside));
      checks.push(...(await serving.check((alone.answers.get(202) ?? 0) + (meanwhile.answers.get(202) ?? 0))));
      const refusedOf = ({ perSecond }: Driven) =>
        expected.reduce((sum, status) => sum + (perSecond.get(status) ?? 0), 0);
      const refused = refusedOf(flood);
      const times = { ...of('good', meanwhile), ...of('alone', alone) } as Pick<
        Flood,
        'goodP50' | 'goodP99' | 'aloneP50' | 'aloneP99'
      >;
      found.push({ kind, round, refused, refusedBeside: refusedOf(beside), bare, ...times });
      process.stdout.write(`round ${round}, ${kind}: ${figure(refused)}/s\n`);
    } finally {
      await serving.stop();
    }
  }
  return found;
}

function of(name: string, driven: Driven): Record<string, number> {
  const latencies = driven.latencies.get(202) ?? [];
  return { [`${name}P50`]: percentile(latencies, 0.5), [`${name}P99`]: percentile(latencies, 0.99) };
}

async function answeredByBareFastify(bed: Bed, options: Options, callers: number): Promise<number> {
  const serving = await bed.start(bareFastify);
  try {
    const driven = await drive(
      loadOf(serving, callers, options),
      serving.server,
      {},
      options.generators,
      bed.log('generator'),
    );
    return driven.perSecond.get(202) ?? 0;
  } finally {
    await serving.stop();
  }
}

/** A key of an account that may send one message a day, and has. */
async function spentKey(url: string): Promise<string> {
  const key = await signUp(url, { perMinute: 1, perDay: 1 });
  await fetch(`${url}/account`, { headers: { authorization: `Bearer ${key}` } });
  return key;
}

function only(what: string, expected: readonly number[], { answers, lost }: Driven): Check {
  const counts = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ');
  const holds = lost === 0 && answers.size > 0 && [...answers.keys()].every((status) => expected.includes(status));
  return { what: `${what}: ${counts || 'no answer'}, lost: ${lost}`, holds };
}

export function floodTables(all: readonly Flood[]): Table[] {
  const kinds = [...new Set(all.map(({ kind }) => kind))];
  const rows = kinds.map((kind) => {
    const own = all.filter((flood) => flood.kind === kind);
    const over = (figureOf: (flood: Flood) => number) => told(spread(own.map(figureOf)));
    return [
      ...[kind, over((f) => f.refused), over((f) => f.refused / f.bare), over((f) => f.refusedBeside)],
      ...[over((f) => f.aloneP50), over((f) => f.aloneP99), over((f) => f.goodP50), over((f) => f.goodP99)],
    ];
  });
  return [
    {
      title: 'Floods of requests that are refused',
      columns: [
        ...['', 'refused/s', 'of what bare Fastify answers', 'beside a good caller'],
        ...['the good caller alone: p50 ms', 'p99 ms', 'meanwhile: p50 ms', 'p99 ms'],
      ],
      rows,
      notes: [`The good caller sends ${GOOD_RATE} messages a second, the others as fast as they are answered.`],
    },
  ];
}
