import 'reflect-metadata';
import { Environment } from '#messages/index.js';
import { runProcess } from '../process.js';
import { chosenHandler } from './handlers.js';
import { startWorker } from './worker.js';

await runProcess('worker', async (settings, logger) => {
  const worker = await startWorker(settings, logger, await chosenHandler(new Environment(process.env)));
  logger.info({ queue: settings.queueName, management: worker.managementUrl }, 'consuming');
  return worker;
});
