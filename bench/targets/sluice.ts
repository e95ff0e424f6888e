import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../apps/dev/port.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import { Program } from '../parts/program.js';
import { agree, type Check } from '../report/report.js';
import type { Serving, Target } from './target.js';

/** Messages of one request. */
const BATCH = 1_000;
/** Makes a request body of 200 bytes. */
export const TEXT = 'a message of some two hundred bytes '.repeat(6).slice(0, 186);
const ADMIN_KEY = 'the-operators-key-of-the-benchmark-alone';
export const PEPPER = 'the pepper of the benchmark alone, long enough';
/** More than a run can send. */
const LIMITS = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
/** How long a million messages may take. */
const TIMEOUT_MS = 3_600_000;

/** Where the queue is. */
const STORES = ['PostgreSQL', 'Redis'] as const;
export type Store = (typeof STORES)[number];

export interface SluiceServing extends Serving {
  readonly store: BenchDatabase;
}

/** The API process as in production, with default settings. */
export const sluice: Target = { name: 'Sluice', start: (bench) => sluiceAlone(bench) };

/** The same with its queue on Redis. Only where Redis is installed. */
export const sluiceOnRedis: Target = {
  name: 'Sluice on Redis',
  start: async (bench) => sluiceAlone(bench, {}, await newStore(bench, true)),
};

/** The variants of Sluice that can be measured on this machine. */
export function profiles(bench: BenchEnvironment): Target[] {
  return bench.redis === null ? [sluice] : [sluice, sluiceOnRedis];
}

/** Where a queue can be on this machine. */
export function storesOf(bench: BenchEnvironment): readonly Store[] {
  return STORES.filter((store) => store !== 'Redis' || bench.redis !== null);
}

/** An empty database, with its queue on Redis or not. */
export async function newStore(bench: BenchEnvironment, onRedis: boolean): Promise<BenchDatabase> {
  return bench.database(onRedis ? await bench.redis?.database() : null);
}

/** The API process with a new database. @param settings that differ from the defaults */
export async function sluiceAlone(
  bench: BenchEnvironment,
  settings: Readonly<Record<string, string>> = {},
  store?: BenchDatabase,
): Promise<SluiceServing> {
  store ??= await bench.database();
  const serving = await startSluice(bench, store, settings);
  return {
    ...serving,
    stop: async () => {
      await serving.stop();
      await store.drop();
    },
  };
}

/** The API process on an existing database. @param settings that differ from the defaults */
export async function startSluice(
  bench: BenchEnvironment,
  store: BenchDatabase,
  settings: Readonly<Record<string, string>> = {},
): Promise<SluiceServing> {
  const port = await freePort();
  const env = {
    ...settingsFor(store),
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_API_KEY: ADMIN_KEY,
    ...settings,
  };
  const server = await Program.start('apps/api/main.js', env, bench.log('sluice'));
  const url = `http://127.0.0.1:${port}`;
  const before = await count(store);
  let all = 0;
  return {
    url,
    keys: [await signUp(url)],
    server,
    watched: { node: server.pid, ...bench.servers(store) },
    store,
    check: (accepted, unknown = 0) => checkAccepted(store, before, (all += accepted), unknown),
    stop: () => server.stop(),
  };
}

/** The worker process, with a handler that does nothing. */
export function startEmptyWorker(
  bench: BenchEnvironment,
  store: BenchDatabase,
  settings: Readonly<Record<string, string>> = {},
): Promise<Program> {
  return Program.start('bench/targets/worker.js', { ...settingsFor(store), ...settings }, bench.log('worker'));
}

/** The worker process as in production, with the handler that posts each message to a URL. */
export function startHttpWorker(
  bench: BenchEnvironment,
  store: BenchDatabase,
  url: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const env = { ...settingsFor(store), ...settings, HANDLER: 'http', HTTP_HANDLER_URL: url };
  return Program.start('apps/worker/main.js', env, bench.log('worker'));
}

function settingsFor(store: BenchDatabase): Record<string, string> {
  const queue = store.redisUrl === null ? {} : { REDIS_URL: store.redisUrl };
  return { DATABASE_URL: store.url, ...queue, API_KEY_PEPPER: PEPPER, SIGNUP: 'open', MANAGEMENT_PORT: '0' };
}

/** Creates an account and raises its limits through the admin API. */
export async function signUp(url: string, limits = LIMITS): Promise<string> {
  const account = await requestJson(url, 'POST', '/accounts', null, { name: 'Benchmark' });
  await requestJson(url, 'PATCH', `/admin/accounts/${String(account.id)}`, ADMIN_KEY, {
    plan: 'enterprise',
    limits,
  });
  return String((account.apiKey as Record<string, unknown>).key);
}

/** Deletes an account, as an operator does. */
export async function deleteAccount(url: string, id: string): Promise<void> {
  await requestJson(url, 'DELETE', `/admin/accounts/${id}`, ADMIN_KEY);
}

export async function requestJson(url: string, method: string, path: string, key: string | null, body?: object) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== null && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Creates a database with queued messages, sent through the API. The API is stopped afterwards. */
export async function fillQueue(
  bench: BenchEnvironment,
  messages: number,
  onRedis = false,
  keyOf?: KeyOf,
): Promise<BenchDatabase> {
  const store = await newStore(bench, onRedis);
  const serving = await startSluice(bench, store);
  await sendAll(serving, messages, keyOf);
  await waitUntilRelayed(store);
  await serving.stop();
  return store;
}

/** The ordering key of the n-th message. */
type KeyOf = (n: number) => string | null;

/** Sends messages in batches. */
export async function sendAll(
  { url, keys: [key = ''] }: Serving,
  messages: number,
  keyOf: KeyOf = () => null,
): Promise<void> {
  for (let sent = 0; sent < messages; sent += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, messages - sent) }, (_, index) => ({
      message: TEXT,
      orderingKey: keyOf(sent + index),
    }));
    await requestJson(url, 'POST', '/messages/batch', key, { messages: batch });
  }
}

/** Stray messages: neither an outbox entry nor a job in PostgreSQL. There must never be one. */
const STRAYS = `
  SELECT count(*) FROM (
    SELECT id COLLATE "C" FROM sluice.messages WHERE status = 'queued'
    EXCEPT SELECT id COLLATE "C" FROM bullmq.job WHERE queue = 'messages'
    EXCEPT SELECT unnest(message_ids) COLLATE "C" FROM sluice.outbox
  ) strays`;

/** On Redis, all that can be said is how many messages have neither. */
async function countStrays(store: BenchDatabase): Promise<number> {
  const found = await store.number(STRAYS);
  return store.redisUrl === null ? found : Math.max(0, found - (await store.jobs()));
}

interface Counts {
  readonly rows: number;
  readonly jobs: number;
}

async function count(store: BenchDatabase): Promise<Counts> {
  return {
    rows: await store.number('SELECT count(*) FROM sluice.messages'),
    jobs: await store.jobs(),
  };
}

async function checkAccepted(
  store: BenchDatabase,
  before: Counts,
  accepted: number,
  unknown: number,
): Promise<Check[]> {
  const strays = await countStrays(store);
  await waitUntilRelayed(store);
  const { rows, jobs } = await count(store);
  const left = `${strays} stray messages right after the load`;
  const stored = { rows: rows - before.rows, jobs: jobs - before.jobs };
  const found = stored.rows - accepted;
  return [
    { what: `Sluice: ${left}`, holds: strays === 0 },
    unknown === 0
      ? agree('Sluice', { '202s': accepted, ...stored })
      : {
          what: `Sluice: ${accepted} 202s, ${stored.rows} rows, ${stored.jobs} jobs: ${found} of ${unknown} with 503 were stored`,
          holds: found >= 0 && found <= unknown && stored.jobs === stored.rows,
        },
  ];
}

/** Resolves when the outbox is empty. */
export async function waitUntilRelayed(store: BenchDatabase): Promise<void> {
  await waitUntilNone(store, 'SELECT FROM sluice.outbox LIMIT 1');
}

/** Resolves when no message is queued or processing. */
export async function waitUntilFinal(store: BenchDatabase): Promise<void> {
  // The newest one mostly ends last. The index leads to it at once: before the older ones come the entries of all that have
  // ended lately, and passing those again and again would slow down the measured server.
  await waitUntilNone(
    store,
    "SELECT FROM sluice.messages WHERE status IN ('queued', 'processing') ORDER BY id DESC LIMIT 1",
  );
}

export async function waitUntilNone(store: BenchDatabase, rows: string): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  while ((await store.rows(rows)).length > 0) {
    if (Date.now() > deadline) throw new Error(`There are still rows after an hour: ${rows}`);
    await sleep(200);
  }
}
