import type { Environment } from '#platform/process/environment.js';
import { matching } from '#platform/process/formats.js';

const QUEUE_NAME = matching('1 to 40 of A-Z, a-z, 0-9, "_", "." and "-"', (name) => /^[\w.-]{1,40}$/.test(name));

/** The queue, and its workers. Times are in milliseconds. */
export function readDeliverySettings(env: Environment) {
  return {
    queueName: env.read('QUEUE_NAME', 'messages', QUEUE_NAME),
    worker: {
      concurrency: env.integer('WORKER_CONCURRENCY', 50, 1, 1_000),
      rate: env.integer('WORKER_RATE', 0, 0, 1_000_000),
      lockMs: env.integer('WORKER_LOCK_MS', 5_000, 1_000, 600_000),
      attemptTimeoutMs: env.integer('ATTEMPT_TIMEOUT_MS', 30_000, 10, 3_600_000),
    },
  };
}

export type DeliverySettings = ReturnType<typeof readDeliverySettings>;
