/** Sluice's worker process with an empty handler, to measure the cost of delivery alone. */
import 'reflect-metadata';
import { runProcess } from '#platform/process/process.js';
import { migrateSchema } from '../../apps/schema.js';
import { readSettings } from '../../apps/settings.js';
import { startWorker } from '../../apps/worker/worker.js';

const handler = { handle: () => Promise.resolve() };

await runProcess('worker', readSettings, migrateSchema, (settings, logger) => startWorker(settings, logger, handler));
