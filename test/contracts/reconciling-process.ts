import { WORKER_NAME } from '#messages/adapters/bullmq/delivery-job.js';
import { PostgresJobEvents } from '#messages/adapters/bullmq/tables/postgres-job-events.js';
import { PostgresQueueMaintenance } from '#messages/adapters/bullmq/tables/postgres-queue-maintenance.js';
import { PostgresStrayMessages } from '#messages/adapters/bullmq/tables/postgres-stray-messages.js';
import { PostgresReconcilerTurn } from '#messages/adapters/postgres/postgres-reconciler-turn.js';
import { JobFollower } from '#messages/application/job-follower.js';
import { Reconciler } from '#messages/application/reconciler.js';
import { openBullMq } from './bullmq-process.js';
import { PostgresStore } from './postgres-store.js';

export const LOCK_MS = 200;

const atOnce = { count: 0 };
/** Ours, another program's, and one that removes a job when it has ended. */
const workers = {
  ours: { name: WORKER_NAME },
  foreign: {},
  'tidy foreign': { removeOnComplete: atOnce, removeOnFail: atOnce },
};

/** A process on a store and a queue, with a reconciler and a follower of jobs that do not run by themselves. */
export async function openReconciling() {
  const store = await PostgresStore.open();
  const bullmq = openBullMq(store.url);
  const process = await store.process(bullmq.queue);
  const { database, deliveries, messages } = process;
  const strays = new PostgresStrayMessages(database, bullmq.connection);
  const events = new PostgresJobEvents(database, bullmq.connection);
  const maintenance = new PostgresQueueMaintenance(database, bullmq.connection, { lockMs: LOCK_MS });
  const reports: unknown[] = [];
  const turn = new PostgresReconcilerTurn(database);
  const newReconciler = () =>
    new Reconciler(strays, maintenance, deliveries, messages, turn, {
      healed: (what) => reports.push(what),
      failed: (step, error) => reports.push([step, error]),
    });
  const follower = new JobFollower(events, deliveries, { followingFailed: (error) => reports.push(error) });
  return {
    ...{ ...process, store, bullmq, strays, events, maintenance, reports, turn, newReconciler, follower },
    /** Runs all steps; resolves to what they report. */
    reconcile: async (): Promise<unknown[]> => {
      reports.length = 0;
      await newReconciler().run();
      return reports.splice(0);
    },
    take: (whose: keyof typeof workers) => bullmq.take(workers[whose]),
    close: async () => {
      await bullmq.close();
      await store.close();
    },
  };
}

export type Reconciling = Awaited<ReturnType<typeof openReconciling>>;
