import 'reflect-metadata';
import { runProcess } from '../process.js';
import { startApi } from './api.js';

await runProcess('api', async (settings, logger, migrate) => {
  const api = await startApi(settings, logger, migrate);
  logger.info({ url: api.url, management: api.managementUrl }, 'listening');
  return api;
});
