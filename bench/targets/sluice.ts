import { setTimeout as sleep } from 'node:timers/promises';
import { usablePort } from '../../apps/dev/port.js';
import type { Bed, Store } from '../parts/bed.js';
import { Program } from '../parts/program.js';
import { agree, type Check } from '../report/report.js';
import type { Serving, Target } from './target.js';

/** Messages of one request. */
const BATCH = 1_000;
/** With what is around it, a body of 200 bytes. */
export const TEXT = 'a message of some two hundred bytes '.repeat(6).slice(0, 186);
const OPERATORS_KEY = 'the-operators-key-of-the-benchmark-alone';
export const PEPPER = 'the pepper of the benchmark alone, long enough';
/** More than a run can send; the largest that a plan may have would do as well. */
const LIMITS = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
/** How long the relay may take to hand over what was accepted, in milliseconds, before that counts as lost. */
const PATIENCE_MS = 600_000;

export interface SluiceServing extends Serving {
  readonly key: string;
  readonly store: Store;
}

/** The API process, as one starts it in production, with all settings at their defaults. */
export const sluice: Target = { name: 'Sluice', start: (bed) => sluiceAlone(bed) };

/** The API process on a database of its own. @param settings that differ from the defaults */
export async function sluiceAlone(bed: Bed, settings: Readonly<Record<string, string>> = {}): Promise<SluiceServing> {
  const store = await bed.database();
  const serving = await startSluice(bed, store, settings);
  return {
    ...serving,
    stop: async () => {
      await serving.stop();
      await store.drop();
    },
  };
}

/** The API process on a database that stays. @param settings that differ from the defaults */
export async function startSluice(
  bed: Bed,
  store: Store,
  settings: Readonly<Record<string, string>> = {},
): Promise<SluiceServing> {
  const port = (await usablePort(0, '127.0.0.1')) ?? 0;
  const env = {
    ...environment(store),
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_API_KEY: OPERATORS_KEY,
    ...settings,
  };
  const server = await Program.start('apps/api/main.js', env, bed.log('sluice'));
  const url = `http://127.0.0.1:${port}`;
  const before = await count(store);
  let all = 0;
  return {
    url,
    key: await signUp(url),
    server,
    watched: { node: server.pid, PostgreSQL: bed.postgresPid },
    store,
    check: (accepted, unknown = 0) => checkAccepted(store, before, (all += accepted), unknown),
    stop: () => server.stop(),
  };
}

/** The worker process, with a handler that does nothing. */
export function startWorker(bed: Bed, store: Store): Promise<Program> {
  return Program.start('bench/targets/worker.js', environment(store), bed.log('worker'));
}

function environment(store: Store): Record<string, string> {
  return { DATABASE_URL: store.url, API_KEY_PEPPER: PEPPER, MANAGEMENT_PORT: '0' };
}

/** An account whose limits are lifted by the operators, as they would lift them for a customer. */
export async function signUp(url: string, limits = LIMITS): Promise<string> {
  const account = await answerOf(url, 'POST', '/accounts', null, { name: 'Benchmark' });
  await answerOf(url, 'PATCH', `/admin/accounts/${String(account.id)}`, OPERATORS_KEY, {
    plan: 'enterprise',
    limits,
  });
  return String((account.apiKey as Record<string, unknown>).key);
}

export async function answerOf(url: string, method: string, path: string, key: string | null, body: object) {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** A queue of so many messages, which came in by the API and its relay. Neither runs any more. */
export async function filled(bed: Bed, messages: number): Promise<Store> {
  const store = await bed.database();
  const serving = await startSluice(bed, store);
  for (let sent = 0; sent < messages; sent += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, messages - sent) }, () => ({ message: TEXT }));
    await answerOf(serving.url, 'POST', '/messages/batch', serving.key, { messages: batch });
  }
  await relayed(store);
  await serving.stop();
  return store;
}

/** Messages that have neither an outbox entry nor a job: there must be none at any moment. */
const STRAYS = `
  SELECT count(*) FROM (
    SELECT id COLLATE "C" FROM sluice.messages WHERE status = 'queued'
    EXCEPT SELECT id COLLATE "C" FROM bullmq.job WHERE queue = 'messages'
    EXCEPT SELECT unnest(message_ids) COLLATE "C" FROM sluice.outbox
  ) strays`;

interface Counts {
  readonly rows: number;
  readonly jobs: number;
}

async function count(store: Store): Promise<Counts> {
  return {
    rows: await store.number('SELECT count(*) FROM sluice.messages'),
    jobs: await store.number('SELECT count(*) FROM bullmq.job'),
  };
}

async function checkAccepted(store: Store, before: Counts, accepted: number, unknown: number): Promise<Check[]> {
  const strays = await store.number(STRAYS);
  await relayed(store);
  const { rows, jobs } = await count(store);
  const left = `${strays} messages with neither an outbox entry nor a job right after the load`;
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
export async function relayed(store: Store): Promise<void> {
  await until(
    async () => (await store.number('SELECT count(*) FROM sluice.outbox')) === 0,
    'The outbox was not emptied',
  );
}

/** Resolves when it holds. @throws Error when that takes ten minutes */
export async function until(holds: () => Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${otherwise} within ten minutes.`);
    await sleep(50);
  }
}
