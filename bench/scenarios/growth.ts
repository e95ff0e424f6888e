import { drive } from '../load/drive.js';
import type { Load } from '../load/request.js';
import type { Options } from '../options.js';
import type { Bed, Store } from '../parts/bed.js';
import { figure, told, type Check, type Findings, type Table } from '../report/report.js';
import { spread } from '../report/stats.js';
import { filled, startSluice, type SluiceServing } from '../targets/sluice.js';
import { figuresOf, loadOf, onlyAnswered, type Figures } from './accepting.js';
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

/** Whether it is still as fast with much in store, with much to do, with large messages, with few callers or many. */
export async function growth(bed: Bed, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const keys = makeKeys(options.accounts);
  const full = await stored(bed, keys, options.rows);
  const backlog = await filled(bed, options.backlog);
  const runner = new Runner(bed, options, samples, checks);
  for (let round = 1; round <= options.rounds; round++) {
    await runner.fresh(round, 'callers', options.smoke ? [1, 8] : [1, 16, 64, 256, 1_000], (callers) => [
      `${callers.toLocaleString('en')} callers`,
      (serving) => loadOf(serving, callers, options),
    ]);
    await runner.fresh(round, 'sizes', [100, 10 * KIB, 200 * KIB], (bytes) => [
      bytes < KIB ? `${bytes} B` : `${bytes / KIB} KiB`,
      (serving) => ({
        ...loadOf(serving, runner.callers, options),
        body: JSON.stringify({ message: 'x'.repeat(bytes) }),
      }),
    ]);
    const empty = await bed.database();
    await runner.on(round, 'backlog', 'nothing queued', empty, (serving) => loadOf(serving, runner.callers, options));
    await empty.drop();
    await runner.on(round, 'backlog', queued(options), backlog, (serving) => loadOf(serving, runner.callers, options));
    const few = await stored(bed, keys, FEW);
    await inStore(runner, round, FEW, few, keys);
    await few.drop();
    await inStore(runner, round, options.rows, full, keys);
  }
  await backlog.drop();
  await full.drop();
  return { tables: tables(options, samples), checks, figures: samples };
}

function queued({ backlog }: Options): string {
  return `${backlog.toLocaleString('en')} queued at the beginning`;
}

/** Sending by all accounts in turn, and reading anywhere in the messages of the big one. */
async function inStore(runner: Runner, round: number, rows: number, store: Store, keys: readonly Key[]) {
  const row = `${rows.toLocaleString('en')} stored messages`;
  const all = keys.map(({ key }) => key);
  await runner.on(round, 'stored', row, store, (serving) => ({
    ...loadOf(serving, runner.callers, runner.options),
    keys: all,
  }));
  const found = await store.rows<{ id: string }>(
    'SELECT id FROM sluice.messages WHERE account_id = $1 ORDER BY random() LIMIT 1000',
    [BIG_ACCOUNT],
  );
  const ids = found.map(({ id }) => id);
  const reading = (paths: string[]) => (serving: SluiceServing) =>
    ({ ...loadOf(serving, 1, runner.options), method: 'GET', paths, keys: all.slice(0, 1), body: '' }) as const;
  const cursors = ids.map((id) => `/messages?limit=50&cursor=${Buffer.from(id).toString('base64url')}`);
  await runner.on(round, 'lists', row, store, reading(cursors), 200);
  await runner.on(round, 'finds', row, store, reading(ids.map((id) => `/messages/${id}`)), 200);
}

/** Runs Sluice on one database after the other, and keeps what it finds. */
class Runner {
  constructor(
    private readonly bed: Bed,
    readonly options: Options,
    private readonly samples: Sample[],
    private readonly checks: Check[],
  ) {}

  /** Where their number is not the question. */
  get callers(): number {
    return this.options.smoke ? 4 : 64;
  }

  /** @param status what every request must be answered with */
  async on(
    round: number,
    about: string,
    row: string,
    store: Store,
    loadFor: (serving: SluiceServing) => Load,
    status = 202,
  ): Promise<void> {
    const { bed, options, samples, checks } = this;
    const serving = await startSluice(bed, store);
    try {
      const driven = await drive(
        loadFor(serving),
        serving.server,
        serving.watched,
        options.generators,
        bed.log('generator'),
      );
      checks.push(
        onlyAnswered(`growth, ${row}`, driven, status),
        ...(await serving.check(driven.answers.get(202) ?? 0)),
      );
      const sample = { about, row, round, ...figuresOf(driven, status) };
      samples.push(sample);
      process.stdout.write(
        `round ${round}, ${about}, ${row}: ${figure(sample.perSecond)}/s, p50 ${figure(sample.p50)} ms\n`,
      );
    } finally {
      await serving.server.stop();
    }
  }

  /** Each of these on a database of its own. */
  async fresh<T>(
    round: number,
    about: string,
    cases: readonly T[],
    of: (one: T) => [string, (serving: SluiceServing) => Load],
  ): Promise<void> {
    for (const one of cases) {
      const store = await this.bed.database();
      await this.on(round, about, ...insert(store, of(one)));
      await store.drop();
    }
  }
}

function insert<A, B, C>(between: B, [first, last]: [A, C]): [A, B, C] {
  return [first, between, last];
}

function tables(options: Options, samples: readonly Sample[]): Table[] {
  const callers = options.smoke ? 4 : 64;
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
      columns: ['', 'requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'CPU-µs a request: node', 'PostgreSQL'],
      rows,
    };
  });
}
