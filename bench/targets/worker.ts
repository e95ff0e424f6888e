/** Sluice's worker process with a handler that does nothing: what is left is what a delivery costs. */
import 'reflect-metadata';
import { runProcess } from '../../apps/process.js';
import { startWorker } from '../../apps/worker/worker.js';

const handler = { handle: () => Promise.resolve() };

await runProcess('worker', (settings, logger) => startWorker(settings, logger, handler));
