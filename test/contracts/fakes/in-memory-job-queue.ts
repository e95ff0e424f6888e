import { fromJob, toJobData } from '#delivery/adapters/bullmq/delivery-job.js';
import type { Outcome } from '#delivery/application/deliver-message.js';
import { FairScheduler, FIRST_TURN } from '#delivery/application/fair-scheduler.js';
import {
  JobQueue,
  type Consuming,
  type ConsumerOptions,
  type InspectedJob,
  type RunJob,
} from '#delivery/application/job-queue.js';
import type { Message } from '#messages/domain/message.js';
import { unavailable } from '../../support/messages.js';

const LIVE: InspectedJob = { isLive: true, foreignEnd: null };

/** A queue in the memory of one process, for tests. No other programs take its jobs. */
export class InMemoryJobQueue extends JobQueue {
  readonly jobs = new Map<string, Message>();
  /** Ids of jobs that a worker has, and of those that wait for their next attempt. */
  readonly taken = new Set<string>();
  /** How many messages each call was to add. */
  readonly calls: number[] = [];
  away = false;
  private readonly failed = new Set<string>();
  private readonly scheduler = new FairScheduler();
  private readonly turnOf = new Map<string, number>();
  private open: Promise<void> = Promise.resolve();
  private wake: () => void = () => undefined;

  async add(messages: readonly Message[]): Promise<void> {
    this.calls.push(messages.length);
    await this.open;
    this.reach();
    for (const { state } of messages) {
      if (state.text.includes('\u0000')) throw new Error('U+0000 can not be kept.');
    }
    const priorities = this.waiting().map((id) => this.turnOf.get(id) ?? 0);
    const turn = priorities.find((priority) => priority >= FIRST_TURN) ?? null;
    this.scheduler.setWaiting({ express: (priorities[0] ?? FIRST_TURN) < FIRST_TURN, turn });
    const { turns, added } = this.scheduler.assign(messages.map(({ state }) => state.accountId));
    for (const [index, message] of messages.entries()) {
      if (this.jobs.has(message.jobId)) continue;
      this.jobs.set(message.jobId, message);
      this.turnOf.set(message.jobId, turns[index] ?? 0);
    }
    added();
    this.wake();
  }

  /** The id of the job that a worker takes next; null when none waits. */
  next(): string | null {
    return this.waiting()[0] ?? null;
  }

  async remove(jobId: string): Promise<void> {
    this.reach();
    if (!this.taken.has(jobId)) this.forget(jobId);
    return Promise.resolve();
  }

  consume(run: RunJob, { concurrency }: Pick<ConsumerOptions, 'concurrency'>): Consuming {
    const stopping = new AbortController();
    const running = new Set<Promise<void>>();
    const take = () => {
      for (let id = this.next(); id !== null && running.size < concurrency && !stopped; id = this.next()) {
        const message = this.jobs.get(id);
        if (message === undefined) return;
        this.taken.add(id);
        const job = fromJob(id, toJobData(message));
        const ended = run(job, stopping.signal)
          .catch((): Outcome => ({ kind: 'again', afterMs: 1_000 }))
          .then((outcome) => {
            running.delete(ended);
            this.end(job.retries === 0 ? job.id : `${job.id}.${job.retries}`, outcome);
            this.wake();
          });
        running.add(ended);
      }
    };
    let stopped = true;
    return {
      state: 'serving',
      start: () => {
        stopped = false;
        this.wake = take;
        take();
      },
      close: async (graceMs) => {
        stopped = true;
        const timer = setTimeout(() => {
          stopping.abort();
        }, graceMs);
        await Promise.all(running);
        clearTimeout(timer);
      },
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  get isUp(): boolean {
    return !this.away;
  }

  async identity() {
    this.reach();
    return Promise.resolve({ dataSet: 'memory', contents: 'memory' });
  }

  takeOver(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async inspect(jobIds: readonly string[]): Promise<Map<string, InspectedJob>> {
    this.reach();
    const jobs = jobIds.filter((id) => this.jobs.has(id));
    return Promise.resolve(new Map(jobs.map((id) => [id, { ...LIVE, isLive: !this.failed.has(id) }])));
  }

  endsOf() {
    return Promise.resolve(new Map<string, never>());
  }

  async removeDead(jobIds: readonly string[]): Promise<void> {
    this.reach();
    for (const id of jobIds) if (this.failed.has(id)) this.forget(id);
    return Promise.resolve();
  }

  purge(jobIds: readonly string[]): Promise<number> {
    const left = jobIds.filter((id) => this.taken.has(id));
    for (const id of jobIds) if (!this.taken.has(id)) this.forget(id);
    return Promise.resolve(left.length);
  }

  async *mentionedJobs(): AsyncGenerator<readonly string[]> {
    yield Promise.resolve([...this.jobs.keys()]);
  }

  removeEvents(): Promise<void> {
    return Promise.resolve();
  }

  async readEnds(position: string | null) {
    this.reach();
    return Promise.resolve({ ends: new Map<string, never>(), position: position ?? '' });
  }

  listenForEnds(): boolean {
    return false;
  }

  removeOldJobs(): Promise<boolean> {
    return Promise.resolve(false);
  }

  repairFutureTimestamps(): Promise<void> {
    return Promise.resolve();
  }

  depth() {
    const [active, failed] = [this.taken.size, this.failed.size];
    return Promise.resolve({ jobs: { waiting: this.jobs.size - active - failed, active, failed }, oldest: 0 });
  }

  /** Removes all jobs. */
  clear(): void {
    for (const jobId of this.jobs.keys()) this.forget(jobId);
  }

  /** Lets every call wait until the returned function is called. */
  hold(): () => void {
    let release: () => void = () => undefined;
    this.open = new Promise((resolve) => (release = resolve));
    return release;
  }

  /** The ids of the jobs that wait, in their order. */
  private waiting(): string[] {
    const waiting = [...this.jobs.keys()].filter((id) => !this.taken.has(id) && !this.failed.has(id));
    return waiting.sort((one, other) => (this.turnOf.get(one) ?? 0) - (this.turnOf.get(other) ?? 0));
  }

  private end(jobId: string, outcome: Outcome): void {
    switch (outcome.kind) {
      case 'done':
        this.forget(jobId);
        return;
      case 'failed':
        this.taken.delete(jobId);
        this.failed.add(jobId);
        return;
      case 'again':
        setTimeout(() => {
          this.taken.delete(jobId);
          this.wake();
        }, outcome.afterMs).unref();
    }
  }

  private forget(jobId: string): void {
    this.jobs.delete(jobId);
    this.taken.delete(jobId);
    this.failed.delete(jobId);
  }

  private reach(): void {
    if (this.away) throw unavailable();
  }
}
