import { FairScheduler } from '#delivery/application/fair-scheduler.js';
import { DeliveryQueue } from '#delivery/application/delivery-queue.js';
import type { Message } from '#messages/domain/message.js';
import { unavailable } from '../../support/messages.js';

/** What the unit tests of the relay use; it keeps the contract that BullMqDeliveryQueue keeps. */
export class InMemoryDeliveryQueue extends DeliveryQueue {
  readonly jobs = new Map<string, Message>();
  private readonly scheduler = new FairScheduler();
  private readonly turnOf = new Map<string, number>();
  /** Ids of jobs that a worker has. */
  readonly taken = new Set<string>();
  /** How many messages each call was to add. */
  readonly calls: number[] = [];
  away = false;
  private open: Promise<void> = Promise.resolve();

  async add(messages: readonly Message[]): Promise<void> {
    this.calls.push(messages.length);
    await this.open;
    if (this.away) throw unavailable();
    for (const { state } of messages) {
      if (state.text.includes('\u0000')) throw new Error('U+0000 can not be kept.');
    }
    this.scheduler.setCurrentTurn(this.turnOf.get(this.next() ?? '') ?? null);
    const { turns, added } = this.scheduler.assign(messages.map(({ state }) => state.accountId));
    for (const [index, message] of messages.entries()) {
      if (this.jobs.has(message.jobId)) continue;
      this.jobs.set(message.jobId, message);
      this.turnOf.set(message.jobId, turns[index] ?? 0);
    }
    added();
  }

  /** The id of the job that a worker takes next; null when none waits. */
  next(): string | null {
    const waiting = [...this.jobs.keys()].filter((id) => !this.taken.has(id));
    const [first] = waiting.sort((one, other) => (this.turnOf.get(one) ?? 0) - (this.turnOf.get(other) ?? 0));
    return first ?? null;
  }

  remove(jobId: string): Promise<void> {
    if (this.away) return Promise.reject(unavailable());
    if (!this.taken.has(jobId)) this.jobs.delete(jobId);
    return Promise.resolve();
  }

  /** Lets every call wait until the returned function is called. */
  hold(): () => void {
    let release: () => void = () => undefined;
    this.open = new Promise((resolve) => (release = resolve));
    return release;
  }
}
