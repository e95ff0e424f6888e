import type { Options } from '../options.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import { agree, formatFigure, formatSpread, type Check, type Findings, type Table } from '../report/report.js';
import { spread } from '../report/stats.js';
import {
  deleteAccount,
  newStore,
  sendAll,
  signUp,
  startEmptyWorker,
  startSluice,
  storesOf,
  type Store,
  waitUntilFinal,
  waitUntilNone,
  waitUntilRelayed,
} from '../targets/sluice.js';
import { figuresOf, loadOf, onlyAccepted, type Figures } from './accepting.js';

/** Requests a second of another account. */
const RATE = 100;

interface Sample {
  readonly store: Store;
  readonly messages: number;
  readonly round: number;
  /** From the request until nothing was found any more. */
  readonly seconds: number;
  /** Of the requests of another account. */
  readonly before: Figures;
  readonly meanwhile: Figures;
}

/** How long it takes to remove an account, and what another account notices of it. */
export async function deletion(bench: BenchEnvironment, options: Options): Promise<Findings> {
  const samples: Sample[] = [];
  const checks: Check[] = [];
  const stores = storesOf(bench);
  for (let round = 1; round <= options.rounds; round++) {
    for (const messages of options.messages) {
      for (const store of stores) {
        const database = await newStore(bench, store === 'Redis');
        try {
          const sample = { round, messages, store, ...(await measure(bench, options, database, messages, checks)) };
          const { seconds } = sample;
          process.stdout.write(`round ${round}, ${messages} messages on ${store}: ${formatFigure(seconds)} s\n`);
          samples.push(sample);
        } finally {
          await database.drop();
        }
      }
    }
  }
  return {
    tables: options.messages.map((messages) => table(samples, stores, messages, options.seconds)),
    checks,
    figures: samples,
  };
}

async function measure(
  bench: BenchEnvironment,
  options: Options,
  store: BenchDatabase,
  messages: number,
  checks: Check[],
) {
  const serving = await startSluice(bench, store);
  try {
    // Half of them are delivered, with an attempt each, and half have a job.
    const half = Math.floor(messages / 2);
    await sendAll(serving, half);
    const worker = await startEmptyWorker(bench, store);
    await Promise.race([waitUntilFinal(store), worker.died()]);
    await worker.stop();
    await sendAll(serving, messages - half);
    await waitUntilRelayed(store);
    const [account] = await store.rows<{ id: string }>('SELECT account_id AS id FROM sluice.messages LIMIT 1');

    const neighbour = { ...serving, keys: [await signUp(serving.url)] };
    const load = { ...loadOf(neighbour, 64, options), rate: RATE };
    const before = await bench.load(neighbour, load, options.generators);
    const startedAt = performance.now();
    await deleteAccount(serving.url, account?.id ?? '');
    const removed = waitUntilNone(store, 'SELECT FROM sluice.deleted_accounts WHERE passes = 0').then(
      () => (performance.now() - startedAt) / 1_000,
    );
    const meanwhile = await bench.load(neighbour, { ...load, warmUpSeconds: 0 }, options.generators);
    const seconds = await removed;

    await waitUntilRelayed(store);
    const accepted = (before.responses.get(202) ?? 0) + (meanwhile.responses.get(202) ?? 0);
    checks.push(
      onlyAccepted('before the deletion', before),
      onlyAccepted('during the deletion', meanwhile),
      agree('after the deletion', {
        '202s of the other account': accepted,
        rows: await store.number('SELECT count(*) FROM sluice.messages'),
        jobs: await store.jobs(),
      }),
      agree('after the deletion', {
        attempts: await store.number('SELECT count(*) FROM sluice.attempts'),
        expected: 0,
      }),
    );
    return { seconds, before: figuresOf(before), meanwhile: figuresOf(meanwhile) };
  } finally {
    await serving.stop();
  }
}

function table(samples: readonly Sample[], stores: readonly Store[], messages: number, seconds: number): Table {
  const of = samples.filter((sample) => sample.messages === messages);
  const rows = stores.map((store) => {
    const over = (figureOf: (sample: Sample) => number) =>
      formatSpread(spread(of.filter((sample) => sample.store === store).map(figureOf)));
    return [
      ...[store, over((s) => s.seconds), over((s) => messages / s.seconds)],
      ...[over((s) => s.before.p50), over((s) => s.before.p99)],
      ...[over((s) => s.meanwhile.p50), over((s) => s.meanwhile.p99)],
    ];
  });
  return {
    title: `${messages.toLocaleString('en')} messages, half of them delivered and half queued, beside ${RATE} requests a second`,
    columns: ['queue on', 'seconds', 'messages/s', 'p50 ms before', 'p99 ms before', 'p50 ms during', 'p99 ms during'],
    rows,
    notes: [`The requests that were measured during the deletion began with it and went on for ${seconds} s.`],
  };
}
