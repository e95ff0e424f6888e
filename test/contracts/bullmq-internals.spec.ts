import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(__filename);
const bullmq = dirname(require.resolve('bullmq'));
const { SQL_MIGRATIONS } = require(join(bullmq, 'postgres/sql-scripts.js')) as {
  SQL_MIGRATIONS: Record<string, string>;
};
const scripts = require(join(bullmq, 'scripts/index.js')) as Record<string, { content: string } | undefined>;

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
    compare('its PostgreSQL schema', schema(), `the SQL in ${FOLDER}/postgres`, 'eeb850a8de6426a5');
  });

  it.each(POSTGRES)('is its SQL function %s, for %s', (name, ours, expected) => {
    compare(`its SQL function ${name}`, functionOf(name), `${FOLDER}/postgres/${ours}`, expected);
  });

  it.each(REDIS)('is its script %s, for %s', (name, ours, expected) => {
    compare(`its script ${name}`, scriptOf(name), `${FOLDER}/redis/${ours}`, expected);
  });
});
