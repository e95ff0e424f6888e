import { drive } from '../load/drive.js';
import type { Load } from '../load/request.js';
import type { Options } from '../options.js';
import type { Bed, Store } from '../parts/bed.js';
import { figure, told, type Check, type Findings, type Table } from '../report/report.js';
import { spread } from '../report/stats.js';
import { filled, sluice, startSluice } from '../targets/sluice.js';
import type { Serving } from '../targets/target.js';
import { figuresOf, loadOf, onlyAnswered, type Figures } from './accepting.js';
import { turned } from './turns.js';
import { BIG_ACCOUNT, makeKeys, stored, type Key } from './growth/stored.js';

/** What a database is called that holds next to nothing. */
const FEW = 1_000;
const KIB = 1_024;

interface Sample extends Figures {
  /** The table it belongs to, and its row. */
  readonly about: string;
  readonly row: string;
  readonly round: number;
}

/** What is measured, and where it is told. */
interface Case {
  readonly about: string;
  readonly row: string;
  readonly load: (serving: Serving) => Load;
  /** What every request must be answered with; 202 if left out. */
  readonly status?: number;
}

/** Whether it is still as fast with much in store, with much to do, with large messages, with few callers or many. */
export async function growth(bed: Bed, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const keys = makeKeys(options.accounts);
  const [full, backlog] = await Promise.all([stored(bed, keys, options.rows), filled(bed, options.backlog)]);
  const measure = async (round: number, serving: Serving, cases: readonly Case[]) => {
    samples.push(...(await measured(bed, options, { round, serving, cases }, checks)));
  };
  for (let round = 1; round <= options.rounds; round++) {
    for (const one of [...callersCases(options), ...sizeCases(options), backlogCase(options, 'nothing queued')]) {
      await measure(round, await bed.start(sluice), [one]);
    }
    await measure(round, await startSluice(bed, backlog), [
      backlogCase(options, `${options.backlog.toLocaleString('en')} queued at the beginning`),
    ]);
    const few = await stored(bed, keys, FEW);
    const stores = [
      { store: few, rows: FEW },
      { store: full, rows: options.rows },
    ];
    for (const { store, rows } of turned(options.smoke ? stores.slice(1) : stores, round)) {
      await measure(round, await startSluice(bed, store), await storedCases(options, store, rows, keys));
    }
    await few.drop();
  }
  await backlog.drop();
  await full.drop();
  return { tables: tables(options, samples), checks, figures: samples };
}

/** Where their number is not the question. */
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

/** Sending by all accounts in turn, and reading anywhere in the messages of the big one. */
async function storedCases(options: Options, store: Store, rows: number, keys: readonly Key[]): Promise<Case[]> {
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

/** One process for all the cases of a database. */
async function measured(
  bed: Bed,
  options: Options,
  { round, serving, cases }: { round: number; serving: Serving; cases: readonly Case[] },
  checks: Check[],
): Promise<Sample[]> {
  const samples: Sample[] = [];
  try {
    for (const { about, row, load, status = 202 } of cases) {
      const driven = await drive(
        load(serving),
        serving.server,
        serving.watched,
        options.generators,
        bed.log('generator'),
      );
      checks.push(onlyAnswered(`growth, ${about}, ${row}`, driven, status));
      checks.push(...(await serving.check(driven.answers.get(202) ?? 0)));
      const figures = figuresOf(driven, status);
      samples.push({ about, row, round, ...figures });
      process.stdout.write(
        `round ${round}, ${about}, ${row}: ${figure(figures.perSecond)}/s, p50 ${figure(figures.p50)} ms\n`,
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
    stored: `Accepting with much in store: ${callers} callers, the keys of ${accounts} accounts in turn`,
    lists: 'Reading a page of 50 anywhere in the list of an account that has a tenth of all messages: one caller',
    finds: 'Reading one of its messages: one caller',
    backlog: `Accepting with much to do: ${callers} callers, no worker`,
    sizes: `Accepting messages of other sizes: ${callers} callers`,
    callers: 'Accepting from few and many',
  };
  return Object.entries(titles).map(([about, title]) => {
    const own = samples.filter((sample) => sample.about === about);
    const rows = [...new Set(own.map(({ row }) => row))].map((row) => {
      const over = (of: (sample: Sample) => number) => told(spread(own.filter((s) => s.row === row).map(of)));
      return [
        ...[row, over((s) => s.perSecond), over((s) => s.p50), over((s) => s.p99), over((s) => s.p999)],
        ...[over((s) => s.cpuMicros.node ?? NaN), over((s) => s.cpuMicros.PostgreSQL ?? NaN)],
      ];
    });
    return {
      title,
      columns: [
        about === 'callers' ? 'callers' : '',
        'requests/s',
        'p50 ms',
        'p99 ms',
        'p99.9 ms',
        'CPU-µs a request: node',
        'PostgreSQL',
      ],
      rows,
    };
  });
}
