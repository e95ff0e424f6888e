import 'reflect-metadata';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProcess } from '#platform/process/process.js';
import { migrateSchema } from '../../dist/apps/schema.js';
import { readSettings } from '../../dist/apps/settings.js';
import { startWorker } from '../../dist/apps/worker/worker.js';

/*
 * A worker whose handler does what the message contains, after it has logged the call in the file HANDLED:
 * "die" kills the process, "wait <ms>" takes its time, "hang" never ends, "throw" fails, at once or after some <ms>,
 * "span" adds a span of its own to the trace, everything else is delivered, after HANDLER_MS milliseconds if that is set.
 */
const handler = {
  async handle({ id, message, attempt, traceparent }) {
    appendFileSync(process.env.HANDLED, `${id} ${attempt} ${message}\n`);
    const [what, ms] = message.split(' ');
    if (what === 'die') process.kill(process.pid, 'SIGKILL');
    if (what === 'wait') await sleep(Number(ms));
    if (what === 'hang') await new Promise(() => undefined);
    if (what === 'throw') {
      if (ms) await sleep(Number(ms));
      throw new Error('as requested');
    }
    if (what === 'span') {
      const { trace } = await import('@opentelemetry/api');
      await sleep(1);
      trace.getTracer('handler').startSpan('work', { attributes: { traceparent } }).end();
    }
    if (process.env.HANDLER_MS) await sleep(Number(process.env.HANDLER_MS));
  },
};

await runProcess('test-worker', readSettings, migrateSchema, async (settings, logger, migrate) => {
  const worker = await startWorker(settings, logger, handler, migrate);
  logger.info({ management: worker.managementUrl }, 'consuming');
  return worker;
});
