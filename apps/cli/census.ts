import 'reflect-metadata';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CurrentQueue, JobQueue, QueueModule, StrayMessages } from '#delivery/queue.module.js';
import { Environment } from '#platform/process/environment.js';
import { createLogger } from '#platform/observability/logging.js';
import { requireUsableDatabase } from '#platform/database/usable-database.js';
import { startErrorMessage } from '#platform/process/process.js';
import { UsageError } from '#platform/process/usage-error.js';
import { startTools } from '../context.js';
import { runningUrl } from '../dev/embedded-postgres/embedded-postgres.js';
import { requireSchema } from '../schema.js';
import { readSettings } from '../settings.js';

/** Counts stray messages in the database at DATABASE_URL or of a running `npm start`. */
export async function census(): Promise<number> {
  try {
    // Settings require a pepper, but no caller is authenticated here.
    const env = { API_KEY_PEPPER: '-'.repeat(32), ...process.env, DATABASE_URL: await databaseUrl() };
    const settings = readSettings(env);
    await requireUsableDatabase(settings.database.url);
    await requireSchema(settings.database.url);
    const tools = await startTools(settings, createLogger('silent', 'census'), QueueModule.forTools(settings));
    try {
      const current = await tools.get(CurrentQueue).dataSet();
      if (current !== null && current !== (await tools.get(JobQueue).identity()).dataSet)
        throw new UsageError('REDIS_URL is not that of the processes: their messages have no jobs in this queue.');
      return await tools.get(StrayMessages).count();
    } finally {
      await tools.close();
    }
  } catch (error) {
    throw new Error(startErrorMessage(error), { cause: error });
  }
}

async function databaseUrl(): Promise<string> {
  const env = new Environment(process.env);
  const dataDir = join(env.optional('DATA_DIR') ?? '.data', 'postgres');
  const url =
    env.optional('DATABASE_URL') ?? (await runningUrl(await realpath(dataDir).catch(() => dataDir), 'sluice'));
  if (url === null) throw new UsageError('No database found: run npm start, or set DATABASE_URL.');
  return url;
}
