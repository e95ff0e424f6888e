import type { DeliverMessage } from './deliver-message.js';
import type { Consuming, ConsumerObserver, ConsumerOptions, JobQueue, ProcessClock } from './job-queue.js';

/** Delivers the messages of the queue. */
export class Consumer {
  private readonly consuming: Consuming;

  constructor(
    queue: JobQueue,
    deliver: DeliverMessage,
    options: ConsumerOptions,
    clock: ProcessClock,
    observer: ConsumerObserver,
  ) {
    this.consuming = queue.consume((job, stopping) => deliver.execute(job, stopping), options, clock, observer);
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
