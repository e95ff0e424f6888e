import type { LoadResult } from '../../load/run-load.js';
import type { Load } from '../../load/request.js';
import type { Options } from '../../options.js';
import type { BenchEnvironment } from '../../parts/environment.js';
import { formatFigure, formatSpread, type Check, type Table } from '../../report/report.js';
import { percentile, spread } from '../../report/stats.js';
import { bareFastify } from '../../targets/baselines.js';
import { signUp, sluiceAlone, type SluiceServing } from '../../targets/sluice.js';
import { loadOf } from '../accepting.js';

/** Requests a second of the well-behaved client. */
const GOOD_RATE = 50;
const BAD_KEY = `slc_${'0'.repeat(40)}`;
/** Anonymous clients are limited by address, and here all share one. */
const SLUICE = {
  start: (bench: BenchEnvironment) => sluiceAlone(bench, { ANONYMOUS_PER_MINUTE: '1000000' }),
};

export interface Flood {
  readonly kind: string;
  readonly round: number;
  /** Refused requests a second, of the flood alone and with the well-behaved client. */
  readonly refused: number;
  readonly refusedBeside: number;
  /** Responses a second of bare Fastify in the same round. */
  readonly bare: number;
  /** Response times of the well-behaved client in milliseconds. */
  readonly goodP50: number;
  readonly goodP99: number;
  readonly aloneP50: number;
  readonly aloneP99: number;
}

/** Floods of refused requests while another client sends messages. */
export async function floods(
  bench: BenchEnvironment,
  options: Options,
  round: number,
  checks: Check[],
): Promise<Flood[]> {
  const callers = options.smoke ? 4 : 64;
  const bare = await bareFastifyThroughput(bench, options, callers);
  const kinds = [
    { kind: 'a key over its limit: 429', expected: [429], key: (serving: SluiceServing) => spentKey(serving.url) },
    { kind: 'unknown keys: 401', expected: [401], key: () => Promise.resolve(BAD_KEY) },
  ];
  const found: Flood[] = [];
  for (const { kind, expected, key } of kinds) {
    await bench.use(SLUICE, async (serving) => {
      const good = { ...loadOf(serving, 16, options), rate: GOOD_RATE };
      const bad: Load = { ...loadOf(serving, callers, options), keys: [await key(serving)] };
      const alone = await bench.load(serving, good, 1);
      const flood = await bench.load(serving, bad, options.generators);
      const [meanwhile, beside] = await Promise.all([
        bench.load(serving, good, 1),
        bench.load(serving, bad, options.generators),
      ]);
      checks.push(only(`the well-behaved client during ${kind}`, [202], meanwhile));
      checks.push(only(kind, expected, flood), only(`${kind}, with the well-behaved client`, expected, beside));
      checks.push(...(await serving.check((alone.responses.get(202) ?? 0) + (meanwhile.responses.get(202) ?? 0))));
      const refusedOf = ({ perSecond }: LoadResult) =>
        expected.reduce((sum, status) => sum + (perSecond.get(status) ?? 0), 0);
      const refused = refusedOf(flood);
      const times = { ...of('good', meanwhile), ...of('alone', alone) } as Pick<
        Flood,
        'goodP50' | 'goodP99' | 'aloneP50' | 'aloneP99'
      >;
      found.push({ kind, round, refused, refusedBeside: refusedOf(beside), bare, ...times });
      process.stdout.write(`round ${round}, ${kind}: ${formatFigure(refused)}/s\n`);
    });
  }
  return found;
}

function of(name: string, result: LoadResult): Record<string, number> {
  const latencies = result.latencies.get(202) ?? [];
  return { [`${name}P50`]: percentile(latencies, 0.5), [`${name}P99`]: percentile(latencies, 0.99) };
}

async function bareFastifyThroughput(bench: BenchEnvironment, options: Options, callers: number): Promise<number> {
  return bench.use(bareFastify, async (serving) => {
    const result = await bench.load(serving, loadOf(serving, callers, options), options.generators);
    return result.perSecond.get(202) ?? 0;
  });
}

/** A key whose daily limit of one request is used up. */
async function spentKey(url: string): Promise<string> {
  const key = await signUp(url, { perMinute: 1, perDay: 1 });
  await fetch(`${url}/account`, { headers: { authorization: `Bearer ${key}` } });
  return key;
}

function only(what: string, expected: readonly number[], { responses, lost }: LoadResult): Check {
  const counts = [...responses].map(([status, count]) => `${count} × ${status}`).join(', ');
  const holds = lost === 0 && responses.size > 0 && [...responses.keys()].every((status) => expected.includes(status));
  return { what: `${what}: ${counts || 'no response'}, lost: ${lost}`, holds };
}

export function floodTables(all: readonly Flood[]): Table[] {
  const kinds = [...new Set(all.map(({ kind }) => kind))];
  const rows = kinds.map((kind) => {
    const own = all.filter((flood) => flood.kind === kind);
    const over = (figureOf: (flood: Flood) => number) => formatSpread(spread(own.map(figureOf)));
    return [
      ...[kind, over((f) => f.refused), over((f) => f.refused / f.bare), over((f) => f.refusedBeside)],
      ...[over((f) => f.aloneP50), over((f) => f.aloneP99), over((f) => f.goodP50), over((f) => f.goodP99)],
    ];
  });
  return [
    {
      title: 'Floods of requests that are refused',
      columns: [
        ...['', 'refused/s', 'of what bare Fastify responses', 'with a well-behaved client'],
        ...['that client alone: p50 ms', 'p99 ms', 'during the flood: p50 ms', 'p99 ms'],
      ],
      rows,
      notes: [
        `The well-behaved client sends ${GOOD_RATE} messages a second, the others as fast as they get responses.`,
      ],
    },
  ];
}
