import { CurrentQueue } from '#delivery/application/current-queue.js';
import type { JobQueue, QueueIdentity } from '#delivery/application/job-queue.js';
import { QueueRecovery } from './queue-recovery.js';
import { Reconciliation } from './reconciliation.js';

/** The queue in use before, to which processes add jobs as fast as they are taken over. */
class NeverEmpty implements Pick<JobQueue, 'identity' | 'takeOver'> {
  steps = 0;

  identity(): Promise<QueueIdentity> {
    return Promise.resolve({ dataSet: 'set_1', contents: 'contents_1' });
  }

  takeOver(): Promise<boolean> {
    this.steps++;
    return Promise.resolve(this.steps < 100);
  }
}

class CurrentUntil extends CurrentQueue {
  checks = 0;

  constructor(private readonly last: number) {
    super();
  }

  dataSet(): Promise<null> {
    return Promise.resolve(null);
  }

  protected compare(): Promise<boolean> {
    return Promise.resolve(++this.checks <= this.last);
  }
}

class NothingToDo extends Reconciliation {
  count = () => Promise.resolve();
  take = (_everyMs: number, work: (keep: () => Promise<void>) => Promise<void>) => work(() => Promise.resolve());
  position = () => Promise.resolve('');
  advance = () => Promise.resolve();
  restart = () => Promise.resolve();
  hasPassed = () => Promise.resolve(true);
  contents = () => Promise.resolve('contents_1');
  setContents = () => Promise.resolve();
}

it('ends taking over jobs as soon as another queue is the current one', async () => {
  const queue = new NeverEmpty();
  const changes: boolean[] = [];
  const observer = {
    currentQueueChanged: (isOurs: boolean) => changes.push(isOurs),
    recovering: () => undefined,
    recovered: () => undefined,
    recoveryFailed: (error: unknown) => {
      throw error;
    },
  };
  const current = new CurrentUntil(4);
  const recovery = new QueueRecovery(
    queue,
    { requeueJobs: () => Promise.resolve() },
    current,
    new NothingToDo(),
    () => Promise.resolve(),
    observer,
  );
  await recovery.check();
  await recovery.check();
  expect(queue.steps).toBe(3);
  expect(changes).toEqual([false]);
});
