import type { Options } from '../options.js';
import type { BenchEnvironment } from '../parts/environment.js';
import type { Check, Findings, Table } from '../report/report.js';
import { formatFigure, megabytes, formatSpread } from '../report/report.js';
import { spread } from '../report/stats.js';
import { ordinaryStack } from '../targets/baselines.js';
import { sluice } from '../targets/sluice.js';
import { curve, generatorAtRate, type Point } from './overload/curve.js';
import { rotate } from './rotate.js';
import { floods, floodTables, type Flood } from './overload/floods.js';

const TARGETS = [sluice, ordinaryStack];

/** Behaviour above capacity, and of well-behaved clients during floods of refused requests. */
export async function overload(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const points: Point[] = [];
  const refused: Flood[] = [];
  const checks: Check[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const target of rotate(TARGETS, round)) {
      points.push(...(await curve(bench, options, target, round, checks)));
    }
    refused.push(...(await floods(bench, options, round, checks)));
  }
  const most = Math.max(...points.map(({ offered }) => offered));
  const generator = await generatorAtRate(bench, options, most);
  const tables = [
    ...TARGETS.map(({ name }) =>
      curveTable(
        name,
        points.filter(({ target }) => target === name),
      ),
    ),
    ...floodTables(refused),
    generator.table,
  ];
  return { tables, checks, figures: { points, floods: refused, generator: generator.figures } };
}

function curveTable(name: string, points: readonly Point[]): Table {
  const shares = [...new Set(points.map(({ share }) => share))];
  const rows = shares.map((share) => {
    const own = points.filter((point) => point.share === share);
    const over = (of: (point: Point) => number) => formatSpread(spread(own.map(of)));
    return [
      ...[`${share} ×`, over((p) => p.offered), over((p) => p.accepted), over((p) => p.p50), over((p) => p.p99)],
      ...[over((p) => p.p999), over((p) => 100 * p.refusedShare), over((p) => p.refusedP50), over((p) => p.refusedP99)],
    ];
  });
  const worst = points.filter(({ share }) => share === Math.max(...shares));
  const kept = spread(worst.map(({ accepted, capacity }) => accepted / capacity));
  const memory = (part: number) =>
    formatFigure(megabytes(spread(worst.map(({ memory: m }) => m[Math.floor(part * (m.length - 1))] ?? NaN)).median));
  return {
    title: `Offered load: ${name}`,
    columns: [
      ...['share of capacity', 'offered/s', '202/s', 'p50 ms of a 202', 'p99 ms', 'p99.9 ms'],
      ...['503 %', 'p50 ms of a 503', 'p99 ms'],
    ],
    rows,
    notes: [
      `Capacity (closed loop): ${formatSpread(spread(worst.map(({ capacity }) => capacity)))} requests/s. ` +
        `At ${Math.max(...shares)} times that, ${formatSpread(kept)} of it is kept. Times count from when a request was due, ` +
        'also while no connection was free for it.',
      `Memory at ${Math.max(...shares)} times the capacity, in MiB: at the start ${memory(0)}, after a quarter of the time ` +
        `${memory(0.25)}, half ${memory(0.5)}, three quarters ${memory(0.75)}, at the end ${memory(1)}.`,
    ],
  };
}
