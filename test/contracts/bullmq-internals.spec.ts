import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(__filename);
const bullmq = dirname(require.resolve('bullmq'));
const { SQL_MIGRATIONS } = require(join(bullmq, 'postgres/sql-scripts.js')) as {
  SQL_MIGRATIONS: Record<string, string>;
};
const scripts = require(join(bullmq, 'scripts/index.js')) as Record<string, { content: string } | undefined>;

type Code = (() => unknown) & { readonly prototype?: Readonly<Record<string, () => unknown>> };
const code = require('bullmq') as Record<string, Code | undefined>;

const sql = Object.keys(SQL_MIGRATIONS)
  .sort()
  .map((file) => SQL_MIGRATIONS[file] ?? '')
  .join('\n');
const FUNCTION = /CREATE (?:OR REPLACE )?FUNCTION\s+(\w+)\s*\([\s\S]*?AS\s+(\$\w*\$)[\s\S]*?\2[^;]*;/gi;
const functions = [...sql.matchAll(FUNCTION)];

/** BullMQ's SQL function, in all the versions that its migrations define. */
const functionOf = (name: string) =>
  functions.flatMap(([definition, found]) => (found === name ? [definition] : [])).join('\n');
const schema = () => sql.replaceAll(FUNCTION, '');
const scriptOf = (name: string) => scripts[name]?.content ?? '';

const codeOf = (name: string) => {
  const [ofModule = '', method] = name.split('.');
  const found = method === undefined ? code[ofModule] : code[ofModule]?.prototype?.[method];
  return found?.toString() ?? '';
};

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

const FOLDER = 'libs/delivery/adapters/bullmq';

/** What BullMQ has, what of ours stands in for it or relies on it, and the digest of the pinned version. */
const POSTGRES: readonly [name: string, ours: string, digest: string][] = [
  ['add_job', 'add-jobs.sql.ts', '99448a38a5dd0b68'],
  ['add_jobs_bulk', 'add-jobs.sql.ts', '4926fccaf060ce08'],
  ['move_to_active', 'exchange-jobs.sql.ts', '157124a93dfda537'],
  ['move_to_completed', 'exchange-jobs.sql.ts', '28a0cc36f7e2cbc0'],
  ['move_to_completed_fetch', 'exchange-jobs.sql.ts', '2c1e9d49cb5ee431'],
  ['apply_retention', 'exchange-jobs.sql.ts', '6887f1d8f60464b5'],
  ['next_delay', 'exchange-jobs.sql.ts', '26f9a2e5c0270f44'],
  ['change_priority', 'due-retries.ts', 'ab55673a411d3ad6'],
  ['publish_event', 'job-ends.ts', '35d17bc74c97faa2'],
  ['clean', 'maintenance.ts', '4a563d34c6bb6c9c'],
  ['remove', 'maintenance.ts', '1e4c43cfeb0ba071'],
  ['move_to_delayed', 'maintenance.ts', '739a3d4b310bfc50'],
  ['extend_lock', 'maintenance.ts', '7299aca1369bd466'],
  ['move_stalled_jobs_to_wait', 'maintenance.ts', '4c6d99f8b3aa83fc'],
  ['rate_limit_consume', 'maintenance.ts', 'c278c1895aed4900'],
  ['pause', 'waiting-jobs.ts', '0eac4331f7344aac'],
];

const REDIS: readonly [name: string, ours: string, digest: string][] = [
  ['addStandardJob', 'add-jobs.lua.ts', '2eee45c9ffc54d24'],
  ['addPrioritizedJob', 'add-jobs.lua.ts', 'd4652d1be004a3d7'],
  ['moveToActive', 'exchange-jobs.lua.ts', '7d35069db0b831af'],
  ['moveToFinished', 'exchange-jobs.lua.ts', '8e744ec5d65dbe9e'],
  ['changePriority', 'redis-shard.ts', '84163c6004a885ae'],
  ['changeDelay', 'maintenance.ts', '0a30d9823c49463b'],
  ['moveToDelayed', 'maintenance.ts', '1a7b9311ef92fd66'],
  ['cleanJobsInSet', 'maintenance.ts', 'dbdd85409e49a4e3'],
  ['removeJob', 'maintenance.ts', 'f2acb16fda20ccac'],
  ['moveStalledJobsToWait', 'stored-jobs.ts', 'dad86d89b50d825f'],
  ['addDelayedJob', 'maintenance.ts', 'e47c0db3c46bd84a'],
  ['pause', 'job-places.ts', 'da797a84855a762e'],
  ['getState', 'job-places.ts', '7d1ae07af85b6c23'],
  ['extendLock', 'key-repairs.ts', 'aa54e3c99ff236ed'],
];

/** The methods of BullMQ that ours wrap or replace, and what else of its code they use. */
const CODE: readonly [name: string, ours: string, digest: string][] = [
  ['PostgresQueueBackend.addJobs', 'postgres/batching-backend.ts', 'ebb88763796dd412'],
  ['PostgresQueueBackend.moveToActive', 'batching.ts', '425019ec190ff4e3'],
  ['PostgresQueueBackend.moveToCompleted', 'batching.ts', '98ecc4a156c7ae57'],
  ['RedisQueueBackend.addJobs', 'redis/batching-backend.ts', '7e1a3050619b38ce'],
  ['RedisQueueBackend.moveToActive', 'batching.ts', '5acf245b2d4ca094'],
  ['RedisQueueBackend.moveToCompleted', 'batching.ts', '0a61d59b25e5b61e'],
  ['RedisQueueBackend.moveToFinishedArgs', 'redis/redis-shard.ts', 'c0d6d9c7df54de57'],
  ['raw2NextJobData', 'redis/batching-backend.ts', '4a934933240ba189'],
  ['QueueKeys', 'redis/key-repairs.ts', '0d55226c92863cf4'],
];

/** @throws Error that says what an upgrade of BullMQ has to compare */
function compare(what: string, text: string, ours: string, expected: string): void {
  const found = digest(text);
  if (text !== '' && found === expected) return;
  const version = (require(join(bullmq, '../../package.json')) as { version: string }).version;
  throw new Error(
    text === ''
      ? `BullMQ ${version} has no ${what} any more: check what ${ours} relies on.`
      : `BullMQ ${version} has changed ${what}: compare it with ${ours}, then set its digest here to ${found}.`,
  );
}

describe('What Sluice knows of the internals of BullMQ', () => {
  it('is the schema of its tables', () => {
    compare('its PostgreSQL schema', schema(), `the SQL in ${FOLDER}/internals/postgres`, 'eeb850a8de6426a5');
  });

  it.each(POSTGRES)('is its SQL function %s, for %s', (name, ours, expected) => {
    compare(`its SQL function ${name}`, functionOf(name), `${FOLDER}/internals/postgres/${ours}`, expected);
  });

  it.each(REDIS)('is its script %s, for %s', (name, ours, expected) => {
    compare(`its script ${name}`, scriptOf(name), `${FOLDER}/internals/redis/${ours}`, expected);
  });

  it.each(CODE)('is its code of %s, for %s', (name, ours, expected) => {
    compare(`its code of ${name}`, codeOf(name), `${FOLDER}/internals/${ours}`, expected);
  });
});
