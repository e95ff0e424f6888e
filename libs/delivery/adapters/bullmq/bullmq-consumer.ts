import type { Activity } from '#kernel/activity.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import { UsageError } from '#platform/process/usage-error.js';
import type {
  ConsumerObserver,
  ConsumerOptions,
  Consuming,
  ProcessClock,
  RunJob,
} from '../../application/job-queue.js';
import type { FairQueue } from './fair-queue.js';
import type { QueueConnection } from './queue-connection.js';
import { ShardConsumer } from './shard-consumer.js';

/**
 * How often turns are given to due retries and to the jobs of heavy accounts, and how often while the installation is quiet:
 * where workers are free, the order of jobs makes no difference.
 */
const GIVE_TURNS_EVERY_MS = 250;
const QUIET_GIVE_TURNS_EVERY_MS = 30_000;

/** Takes jobs from all queues, each with its part of the concurrency and of the rate. */
export class BullMqConsumer implements Consuming {
  private readonly consumers: readonly ShardConsumer[];
  private readonly turns: PeriodicTask;

  constructor(
    private readonly connection: QueueConnection,
    fairQueues: readonly Pick<FairQueue, 'giveTurns' | 'mayUseReserve'>[],
    run: RunJob,
    { concurrency, rate, lockMs }: ConsumerOptions,
    clock: ProcessClock,
    observer: ConsumerObserver,
    private readonly activity: Pick<Activity, 'isQuiet' | 'onWake'>,
  ) {
    const { shards } = connection;
    const slots = divide('WORKER_CONCURRENCY', concurrency, shards.length);
    const rates = rate === 0 ? [] : divide('WORKER_RATE', rate, shards.length);
    this.consumers = shards.map((shard, index) => {
      const options = { concurrency: slots[index] ?? 1, rate: rates[index] ?? 0, lockMs };
      const mayUseReserve = async (places: number) => (await fairQueues[index]?.mayUseReserve(places)) ?? false;
      return new ShardConsumer(shard, mayUseReserve, run, options, clock, observer, activity);
    });
    this.turns = new PeriodicTask(() =>
      Promise.all(fairQueues.map((queue) => queue.giveTurns())).catch((error: unknown) => {
        observer.failed(error, 'giving turns failed');
      }),
    );
  }

  /** `paused` while the clock of this process is wrong, `stuck` while it takes no jobs for an unknown reason. */
  get state(): 'serving' | 'paused' | 'stuck' {
    const states = this.consumers.map(({ state }) => state);
    return states.find((state) => state !== 'serving') ?? 'serving';
  }

  start(): void {
    for (const consumer of this.consumers) consumer.start();
    this.turns.start(() => (this.activity.isQuiet ? QUIET_GIVE_TURNS_EVERY_MS : GIVE_TURNS_EVERY_MS));
    this.activity.onWake(() => {
      this.turns.adjust();
    });
  }

  /** Takes no more jobs, waits at most `graceMs` for those in progress, and hands the rest over to other workers. */
  async close(graceMs: number): Promise<void> {
    const abandon = () => {
      this.connection.abandon();
    };
    await Promise.all([...this.consumers.map((consumer) => consumer.close(graceMs, abandon)), this.turns.close()]);
  }
}

/**
 * Parts of a setting that add up to it, the same in every worker.
 * @throws UsageError when a queue would get none
 */
export function divide(name: string, whole: number, queues: number): number[] {
  if (whole < queues) {
    throw new UsageError(
      `${name} must be at least QUEUE_SHARDS, ${queues}: each queue needs a part of it; it is ${whole}.`,
    );
  }
  return Array.from({ length: queues }, (_, index) => Math.floor(whole / queues) + Number(index < whole % queues));
}
