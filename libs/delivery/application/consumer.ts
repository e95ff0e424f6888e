import type { Activity } from '#kernel/activity.js';
import type { DeliverMessage } from './deliver-message.js';
import type { Consuming, ConsumerObserver, ConsumerOptions, JobQueue, ProcessClock, RunJob } from './job-queue.js';

/** Delivers the messages of the queue. */
export class Consumer {
  private readonly consuming: Consuming;

  constructor(
    queue: JobQueue,
    deliver: DeliverMessage,
    options: ConsumerOptions,
    clock: ProcessClock,
    observer: ConsumerObserver,
    activity: Pick<Activity, 'note'>,
  ) {
    const run: RunJob = (job, stopping) => {
      activity.note();
      return deliver.execute(job, stopping);
    };
    this.consuming = queue.consume(run, options, clock, observer);
  }

  /** `paused` while the clock of this process is wrong, `stuck` while it takes no jobs for an unknown reason. */
  get state(): Consuming['state'] {
    return this.consuming.state;
  }

  start(): void {
    this.consuming.start();
  }

  /** Takes no more jobs, waits at most `graceMs` for those in progress, and hands the rest over to other workers. */
  close(graceMs: number): Promise<void> {
    return this.consuming.close(graceMs);
  }
}
