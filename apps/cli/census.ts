import 'reflect-metadata';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { MessagesModule } from '#messages/messages.module.js';
import { runningUrl } from '../dev/embedded-postgres/index.js';
import { createLogger } from '#platform/logging.js';
import { readSettings } from '#platform/settings.js';
import { startTools } from '../context.js';
import { sentence } from '#platform/process/process.js';

/**
 * `npm run census`: counts open messages that nothing will ever deliver, in the database of DATABASE_URL or in that of
 * a running `npm start`. Exit code 0 when there are none, 1 otherwise.
 */
try {
  // It authenticates nobody, so any pepper will do.
  const env = { API_KEY_PEPPER: '-'.repeat(32), ...process.env, DATABASE_URL: await databaseUrl() };
  const tools = await startTools(readSettings(env), createLogger('silent', 'census'), MessagesModule.forTools());
  const count = await MessagesModule.census(tools);
  await tools.close();
  console.log(`${count} messages are queued or processing without an outbox entry, a live job or an unexpired claim.`);
  process.exitCode = count === 0 ? 0 : 1;
} catch (error) {
  console.error(sentence(error));
  process.exitCode = 1;
}

async function databaseUrl(): Promise<string> {
  const { DATABASE_URL, DATA_DIR } = process.env;
  if (DATABASE_URL !== undefined && DATABASE_URL !== '') return DATABASE_URL;
  const dataDir = join(DATA_DIR === undefined || DATA_DIR === '' ? '.data' : DATA_DIR, 'postgres');
  const url = await runningUrl(await realpath(dataDir).catch(() => dataDir), 'sluice');
  if (url !== null) return url;
  throw new Error(`No database to look at: start it with npm start, or set DATABASE_URL.`);
}
