import 'reflect-metadata';
import { Environment } from '#platform/process/environment.js';
import { runProcess } from '#platform/process/process.js';
import { killWhenBlocked } from '#platform/process/watchdog.js';
import { migrateSchema } from '../schema.js';
import { readSettings } from '../settings.js';
import { chosenHandler } from './handlers.js';
import { startWorker } from './worker.js';

/** A start on a busy machine blocks for seconds, also where attempts may take less. */
const MIN_BLOCKED_MS = 10_000;

await runProcess('worker', readSettings, migrateSchema, async (settings, logger, migrate) => {
  killWhenBlocked('worker', Math.max(settings.worker.attemptTimeoutMs, MIN_BLOCKED_MS));
  const handler = await chosenHandler(new Environment(process.env));
  const worker = await startWorker(settings, logger, handler, migrate);
  logger.info({ queue: settings.queueName, management: worker.managementUrl }, 'consuming');
  return worker;
});
