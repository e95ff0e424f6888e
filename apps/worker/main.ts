import 'reflect-metadata';
import { runProcess } from '../process.js';
import { startWorker } from './worker.js';

await runProcess('worker', async (settings, logger) => {
  const worker = await startWorker(settings, logger);
  logger.info({ queue: settings.queueName, management: worker.managementUrl }, 'consuming');
  return worker;
});
