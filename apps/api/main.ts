import 'reflect-metadata';
import { runProcess } from '#platform/process/process.js';
import { migrateSchema } from '../schema.js';
import { readSettings } from '../settings.js';
import { startApi } from './api.js';

await runProcess('api', readSettings, migrateSchema, async (settings, logger, migrate) => {
  const api = await startApi(settings, logger, migrate);
  logger.info({ url: api.url, management: api.managementUrl }, 'listening');
  return api;
});
