/** Sluice's worker process with a handler that does nothing: what is left is what a delivery costs. */
import 'reflect-metadata';
import { runProcess } from '#platform/process/process.js';
import { migrateSchema } from '../../apps/schema.js';
import { startWorker } from '../../apps/worker/worker.js';

const handler = { handle: () => Promise.resolve() };

await runProcess('worker', migrateSchema, (settings, logger) => startWorker(settings, logger, handler));
