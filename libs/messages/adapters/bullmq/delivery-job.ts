import type { Message } from '../../domain/message.js';
import type { Job } from '../../application/deliveries.js';

export const JOB_NAME = 'message';

/** What every job carries: all that a worker needs, and nothing that grants it anything. */
export interface DeliveryJobData {
  readonly v: 1;
  readonly id: string;
  readonly accountId: string;
  readonly message: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

export function toJobData({ state }: Message): DeliveryJobData {
  const { id, accountId, text, createdAt } = state;
  return { v: 1, id, accountId, message: text, createdAt: createdAt.toISOString() };
}

/**
 * Where BullMQ and its instrumentations keep the trace that a job belongs to, and in their form, so that workers of
 * other programs can continue it.
 */
export function toTelemetry({ state: { traceparent } }: Message): { telemetry?: { metadata: string } } {
  return traceparent === null ? {} : { telemetry: { metadata: JSON.stringify({ traceparent }) } };
}

/**
 * @param jobId the message's id, for its n-th retry followed by `.n`
 * @throws Error when the data is of a version that this worker doesn't know
 */
export function fromJob(jobId: string, data: DeliveryJobData): Job {
  // Typed as 1, but written by whatever version of the API is running.
  if ((data.v as number) !== 1) throw new Error(`Jobs of version ${data.v} are not known to this worker.`);
  const { id, accountId, message, createdAt } = data;
  const retries = jobId.length > id.length ? Number(jobId.slice(id.length + 1)) : 0;
  return { id, accountId, message, createdAt: new Date(createdAt), retries };
}
