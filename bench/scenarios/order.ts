import { scaled } from '../load/run-load.js';
import type { Options } from '../options.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import { cpuMeter } from '../parts/usage.js';
import { agree, formatFigure, formatSpread, type Check, type Findings } from '../report/report.js';
import { ratios, spread } from '../report/stats.js';
import { fillQueue, startEmptyWorker, waitUntilFinal } from '../targets/sluice.js';
import { rotate } from './rotate.js';

const MANY = 10_000;

/** The key of each message, and how many of the messages of a measurement are sent. */
interface Kind {
  readonly name: string;
  readonly keyOf: (n: number) => string | null;
  readonly messages: (all: number) => number;
}

const KINDS: readonly Kind[] = [
  { name: 'without keys', keyOf: () => null, messages: (all) => all },
  { name: `${MANY.toLocaleString('en')} keys taking turns`, keyOf: (n) => `key-${n % MANY}`, messages: (all) => all },
  // They are delivered one after another, which takes long.
  { name: 'one key', keyOf: () => 'key', messages: (all) => Math.ceil(all / 10) },
];

interface Sample {
  readonly kind: string;
  readonly round: number;
  readonly sentPerSecond: number;
  readonly perSecond: number;
  /** CPU microseconds a message. */
  readonly cpuMicros: Readonly<Record<string, number>>;
}

/** How fast messages with ordering keys are stored and delivered, beside messages without. */
export async function order(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const [all = 0] = options.messages;
  for (let round = 1; round <= options.rounds; round++) {
    for (const kind of rotate(KINDS, round)) {
      const messages = kind.messages(all);
      const begun = performance.now();
      const store = await fillQueue(bench, messages, false, kind.keyOf);
      const sentPerSecond = (1_000 * messages) / (performance.now() - begun);
      try {
        const measured = await deliver(bench, store, messages, kind.name, checks);
        process.stdout.write(`round ${round}, ${kind.name}: ${formatFigure(measured.perSecond)} messages/s\n`);
        samples.push({ kind: kind.name, round, sentPerSecond, ...measured });
      } finally {
        await store.drop();
      }
    }
  }
  const of = (kind: string) => samples.filter((sample) => sample.kind === kind);
  const over = (kind: string, figure: (sample: Sample) => number) => formatSpread(spread(of(kind).map(figure)));
  const free = of(KINDS[0]?.name ?? '');
  const share = (kind: string) => formatSpread(spread(ratios(of(kind), free, ({ perSecond }) => perSecond)));
  return {
    tables: [
      {
        title: `${all.toLocaleString('en')} messages, of one key a tenth of them, an empty handler, on PostgreSQL`,
        columns: ['', 'CPU-µs a message: node', 'PostgreSQL', 'messages/s', 'of those without keys'],
        rows: KINDS.map(({ name }) => [
          ...[name, over(name, ({ cpuMicros }) => cpuMicros.node ?? 0)],
          over(name, ({ cpuMicros }) => cpuMicros.PostgreSQL ?? 0),
          ...[over(name, ({ perSecond }) => perSecond), share(name)],
        ]),
      },
    ],
    checks,
    figures: samples,
  };
}

/** From the start of the first attempt to the last status change, by the clock of the database. */
const SECONDS = `
  SELECT extract(epoch FROM (SELECT max(updated_at) FROM sluice.messages) - min(started_at))::float8 FROM sluice.attempts`;

/** Messages that began before one of their key with a lower position had ended. */
const OVERTAKEN = `
  SELECT count(*) FROM (
    SELECT a.started_at, max(a.ended_at) OVER (
      PARTITION BY ordering_key ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ended_before
    FROM sluice.messages m JOIN sluice.attempts a ON a.message_id = m.id WHERE position IS NOT NULL
  ) began WHERE started_at < ended_before`;

async function deliver(
  bench: BenchEnvironment,
  store: BenchDatabase,
  messages: number,
  kind: string,
  checks: Check[],
): Promise<Pick<Sample, 'perSecond' | 'cpuMicros'>> {
  const worker = await startEmptyWorker(bench, store);
  const cpu = cpuMeter({ node: worker.pid, ...bench.servers(store) });
  await Promise.race([waitUntilFinal(store), worker.died()]);
  const cpuMicros = scaled(cpu(), 1 / messages);
  const seconds = await store.number(SECONDS);
  await worker.stop();
  checks.push(
    agree(kind, {
      messages,
      delivered: await store.number("SELECT count(*) FROM sluice.messages WHERE status = 'delivered'"),
      attempts: await store.number('SELECT count(*) FROM sluice.attempts'),
    }),
    agree(kind, { 'out of order': await store.number(OVERTAKEN), expected: 0 }),
  );
  return { perSecond: messages / seconds, cpuMicros };
}
