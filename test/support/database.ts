import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

const template = 'sluice_template';
const objectInUse = '55006';

/**
 * A database of its own, with the whole schema and no rows.
 * @param copied another database to begin with, such as `template0`, which is empty
 */
export async function createTestDatabase(copied = template): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${copied} STRATEGY FILE_COPY`);
  return {
    url: urlOf(name),
    drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

function urlOf(database: string): string {
  const server = process.env.TEST_TEMPLATE_URL;
  if (server === undefined) throw new Error('No PostgreSQL for tests: start them with npm test.');
  return server.replace(/[^/]+$/, database);
}

async function administer(statement: string): Promise<void> {
  const client = new Client({ connectionString: urlOf('postgres') });
  await client.connect();
  try {
    await patiently(() => client.query(statement));
  } finally {
    await client.end();
  }
}

/** A template can be copied only while it has no connections, and autovacuum sometimes connects. */
async function patiently(run: () => Promise<unknown>): Promise<void> {
  for (let attemptsLeft = 10; ; attemptsLeft--) {
    try {
      await run();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== objectInUse || attemptsLeft === 0) throw error;
      await sleep(200);
    }
  }
}
