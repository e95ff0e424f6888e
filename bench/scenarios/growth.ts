import type { Load } from '../load/request.js';
import type { Options } from '../options.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import { formatFigure, formatSpread, type Check, type Findings, type Table } from '../report/report.js';
import { spread } from '../report/stats.js';
import { BIG_ACCOUNT, makeKeys, seedDatabase, type Key } from '../targets/seed.js';
import { fillQueue, sluice, startSluice } from '../targets/sluice.js';
import type { Serving } from '../targets/target.js';
import { figuresOf, loadOf, onlyStatus, type Figures } from './accepting.js';
import { rotate } from './rotate.js';

/** Stored messages of the database for comparison. */
const FEW = 1_000;
const KIB = 1_024;

interface Sample extends Figures {
  /** The table and the row it belongs to. */
  readonly about: string;
  readonly row: string;
  readonly round: number;
}

/** A load, and the table and row of its result. */
interface Case {
  readonly about: string;
  readonly row: string;
  readonly load: (serving: Serving) => Load;
  /** The expected status of every response; 202 by default. */
  readonly status?: number;
}

/** How throughput changes with stored messages, queued messages, message size and number of callers. */
export async function growth(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const keys = makeKeys(options.accounts);
  const [full, backlog] = await Promise.all([
    seedDatabase(bench, keys, options.rows),
    fillQueue(bench, options.backlog),
  ]);
  const measure = async (round: number, serving: Serving, cases: readonly Case[]) => {
    samples.push(...(await measured(bench, options, { round, serving, cases }, checks)));
  };
  for (let round = 1; round <= options.rounds; round++) {
    for (const one of [...callersCases(options), ...sizeCases(options), backlogCase(options, 'nothing queued')]) {
      await measure(round, await bench.start(sluice), [one]);
    }
    await measure(round, await startSluice(bench, backlog), [
      backlogCase(options, `${options.backlog.toLocaleString('en')} queued at the beginning`),
    ]);
    const few = await seedDatabase(bench, keys, FEW);
    const stores = [
      { store: few, rows: FEW },
      { store: full, rows: options.rows },
    ];
    for (const { store, rows } of rotate(options.smoke ? stores.slice(1) : stores, round)) {
      await measure(round, await startSluice(bench, store), await storedCases(options, store, rows, keys));
    }
    await few.drop();
  }
  await backlog.drop();
  await full.drop();
  return { tables: tables(options, samples), checks, figures: samples };
}

/** The number of callers where it is not the variable. */
function callersOf({ smoke }: Options): number {
  return smoke ? 4 : 64;
}

function callersCases(options: Options): Case[] {
  return (options.smoke ? [2] : [1, 16, 64, 256, 1_000]).map((callers) => ({
    about: 'callers',
    row: callers.toLocaleString('en'),
    load: (serving) => loadOf(serving, callers, options),
  }));
}

function sizeCases(options: Options): Case[] {
  return (options.smoke ? [200 * KIB] : [100, 10 * KIB, 200 * KIB]).map((bytes) => ({
    about: 'sizes',
    row: bytes < KIB ? `${bytes} B` : `${bytes / KIB} KiB`,
    load: (serving) => ({
      ...loadOf(serving, callersOf(options), options),
      body: JSON.stringify({ message: 'x'.repeat(bytes) }),
    }),
  }));
}

function backlogCase(options: Options, row: string): Case {
  return { about: 'backlog', row, load: (serving) => loadOf(serving, callersOf(options), options) };
}

/** Sends with the keys of all accounts and reads random messages of the big account. */
async function storedCases(
  options: Options,
  store: BenchDatabase,
  rows: number,
  keys: readonly Key[],
): Promise<Case[]> {
  const row = `${rows.toLocaleString('en')} stored messages`;
  const all = keys.map(({ key }) => key);
  const found = await store.rows<{ id: string }>(
    'SELECT id FROM sluice.messages WHERE account_id = $1 ORDER BY random() LIMIT 1000',
    [BIG_ACCOUNT],
  );
  const ids = found.map(({ id }) => id);
  const reading = (paths: string[]) => (serving: Serving) =>
    ({ ...loadOf(serving, 1, options), method: 'GET', paths, keys: all.slice(0, 1), body: '' }) as const;
  const cursors = ids.map((id) => `/messages?limit=50&cursor=${Buffer.from(id).toString('base64url')}`);
  return [
    { about: 'stored', row, load: (serving) => ({ ...loadOf(serving, callersOf(options), options), keys: all }) },
    { about: 'lists', row, load: reading(cursors), status: 200 },
    { about: 'finds', row, load: reading(ids.map((id) => `/messages/${id}`)), status: 200 },
  ];
}

/** Runs all cases of a database against one process. */
async function measured(
  bench: BenchEnvironment,
  options: Options,
  { round, serving, cases }: { round: number; serving: Serving; cases: readonly Case[] },
  checks: Check[],
): Promise<Sample[]> {
  const samples: Sample[] = [];
  try {
    for (const { about, row, load, status = 202 } of cases) {
      const result = await bench.load(serving, load(serving), options.generators);
      checks.push(onlyStatus(`growth, ${about}, ${row}`, result, status));
      checks.push(...(await serving.check(result.responses.get(202) ?? 0)));
      const figures = figuresOf(result, status);
      samples.push({ about, row, round, ...figures });
      process.stdout.write(
        `round ${round}, ${about}, ${row}: ${formatFigure(figures.perSecond)}/s, p50 ${formatFigure(figures.p50)} ms\n`,
      );
    }
  } finally {
    await serving.stop();
  }
  return samples;
}

function tables(options: Options, samples: readonly Sample[]): Table[] {
  const callers = callersOf(options);
  const accounts = options.accounts.toLocaleString('en');
  const titles: Readonly<Record<string, string>> = {
    stored: `Accepting with many stored messages: ${callers} callers, the keys of ${accounts} accounts in turn`,
    lists: 'Reading a random page of 50 messages of an account that has a tenth of all messages: one caller',
    finds: 'Reading one message of that account: one caller',
    backlog: `Accepting with many queued messages: ${callers} callers, no worker`,
    sizes: `Accepting messages of different sizes: ${callers} callers`,
    callers: 'Accepting by number of callers',
  };
  return Object.entries(titles).map(([about, title]) => {
    const own = samples.filter((sample) => sample.about === about);
    const rows = [...new Set(own.map(({ row }) => row))].map((row) => {
      const over = (of: (sample: Sample) => number) => formatSpread(spread(own.filter((s) => s.row === row).map(of)));
      return [
        ...[row, over((s) => s.cpuMicros.node ?? NaN), over((s) => s.cpuMicros.PostgreSQL ?? NaN)],
        ...[over((s) => s.perSecond), over((s) => s.p50), over((s) => s.p99), over((s) => s.p999)],
      ];
    });
    return {
      title,
      columns: [
        ...[about === 'callers' ? 'callers' : '', 'CPU-µs a request: node', 'PostgreSQL'],
        ...['requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms'],
      ],
      rows,
    };
  });
}
