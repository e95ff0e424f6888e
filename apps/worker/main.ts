import 'reflect-metadata';
import { Environment } from '#platform/process/environment.js';
import { runProcess } from '#platform/process/process.js';
import { migrateSchema } from '../schema.js';
import { readSettings } from '../settings.js';
import { chosenHandler } from './handlers.js';
import { startWorker } from './worker.js';

await runProcess('worker', readSettings, migrateSchema, async (settings, logger, migrate) => {
  const handler = await chosenHandler(new Environment(process.env));
  const worker = await startWorker(settings, logger, handler, migrate);
  logger.info({ queue: settings.queueName, management: worker.managementUrl }, 'consuming');
  return worker;
});
