import { UnrecoverableError } from 'bullmq';
import { contentJson, contentOfJson, type ContentJson, type Job, type Message } from '#messages/index.js';

export const JOB_NAME = 'message';

/** BullMQ stores it with a job: it distinguishes Sluice's workers from the workers of other programs. */
export const WORKER_NAME = 'sluice';

/** What a job carries: everything that a worker needs, and nothing that authorizes it. */
export interface DeliveryJobData extends ContentJson {
  readonly v: 1;
  readonly id: string;
  readonly accountId: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

export function toJobData({ state }: Message): DeliveryJobData {
  const { id, accountId, createdAt } = state;
  return { v: 1, id, accountId, ...contentJson(state), createdAt: createdAt.toISOString() };
}

/**
 * The trace of a job in the place and format of BullMQ and its instrumentations, so that workers of other programs can
 * continue it.
 */
export function toTelemetry({ state: { traceparent } }: Message): { metadata: string } | undefined {
  return traceparent === null ? undefined : { metadata: JSON.stringify({ traceparent }) };
}

/**
 * @param jobId the message's id, for its n-th retry followed by `.n`
 * @throws Error when the data has a version that this worker doesn't support, UnrecoverableError when a worker of another
 * program has replaced it: the reconciler then queues the message again
 */
export function fromJob(jobId: string, data: DeliveryJobData): Job {
  const [messageId, retries = 0] = jobId.split('.');
  if ((data as DeliveryJobData | null)?.id !== messageId) {
    throw new UnrecoverableError('The job does not have the data of its message.');
  }
  // Typed as 1, but written by any version of the API.
  if ((data.v as number) !== 1) throw new Error(`This worker does not support jobs of version ${data.v}.`);
  const { id, accountId, createdAt } = data;
  return { id, accountId, content: contentOfJson(data), createdAt: new Date(createdAt), retries: Number(retries) };
}
