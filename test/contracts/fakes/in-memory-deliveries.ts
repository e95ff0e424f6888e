import { Deliveries, type ClaimTerms, type Job, type JobEnd } from '#messages/application/deliveries.js';
import type { Attempt } from '#messages/domain/attempt.js';
import { Message } from '#messages/domain/message.js';
import { after } from '../../support/messages.js';
import type { InMemoryStore } from './in-memory-store.js';

/** What the unit tests of DeliverMessage use: the aggregate itself decides what a claim does. */
export class InMemoryDeliveries extends Deliveries {
  constructor(private readonly store: InMemoryStore) {
    super();
  }

  claim(job: Job, { token, leaseMs }: ClaimTerms): Promise<Message | null> {
    const at = this.store.clock.now();
    const claim = { token, expiresAt: after(leaseMs, at), alone: false };
    const found = this.store.messages.get(job.id);
    if (found?.state.retries !== job.retries) return Promise.resolve(null);
    if (found.state.status === 'queued') return Promise.resolve(this.put(found.startProcessing(claim, at)));
    if (found.state.claim?.token === token) return Promise.resolve(found);
    if (found.state.status === 'processing') {
      this.noteLost(found);
      return Promise.resolve(this.put(found.takeOver(claim, at)));
    }
    return Promise.resolve(null);
  }

  runsAlone({ id, state }: Message, leaseMs: number): Promise<boolean> {
    const found = this.store.messages.get(id);
    const claim = found?.state.claim;
    if (found === undefined || !claim || claim.token !== state.claim?.token) return Promise.resolve(false);
    const renewed = { ...claim, alone: true, expiresAt: after(leaseMs, this.store.clock.now()) };
    this.put(Message.restore({ ...found.state, claim: renewed }));
    return Promise.resolve(true);
  }

  settle({ id, state }: Message, ended: Message): Promise<boolean> {
    const found = this.store.messages.get(id)?.state;
    // Each claim counts an attempt, so the count tells whose end is already stored.
    const isRepeated =
      found?.status === ended.state.status && found.attempts === state.attempts && found.retries === state.retries;
    if (found === undefined || (found.claim?.token !== state.claim?.token && !isRepeated))
      return Promise.resolve(false);
    const outcome = ended.state.status === 'queued' ? 'retried' : (ended.state.status as 'delivered' | 'failed');
    const durationMs = this.store.clock.now().getTime() - state.updatedAt.getTime();
    this.note(id, {
      number: state.attempts,
      startedAt: state.updatedAt,
      durationMs,
      outcome,
      error: ended.state.failureReason,
    });
    this.put(Message.restore({ ...ended.state, updatedAt: this.store.clock.now() }));
    return Promise.resolve(true);
  }

  follow(ends: readonly JobEnd[]): Promise<number> {
    const at = this.store.clock.now();
    let followed = 0;
    for (const { id, retries, attempts, failedReason, run } of ends) {
      const found = this.store.messages.get(id);
      if (found?.state.retries !== retries) continue;
      const claim = { token: 'elsewhere', expiresAt: at, alone: false };
      const { status, claim: held } = found.state;
      const lapsed = held !== null && held.expiresAt < at;
      if (status !== 'queued' && !(status === 'processing' && lapsed)) continue;
      if (status === 'processing') this.noteLost(found);
      const begun = status === 'queued' ? found.startProcessing(claim, at) : found.takeOver(claim, at);
      const { state } = failedReason === null ? begun.deliver(at) : begun.fail(failedReason, at);
      const before = attempts - 1;
      this.put(Message.restore({ ...state, attempts: state.attempts + before, failures: state.failures + before }));
      const { startedAt, endedAt } = run ?? { startedAt: at, endedAt: at };
      const number = state.attempts + before;
      const outcome = failedReason === null ? 'delivered' : 'failed';
      const durationMs = endedAt.getTime() - startedAt.getTime();
      this.note(id, { number, startedAt, durationMs, outcome, error: failedReason });
      followed++;
    }
    return Promise.resolve(followed);
  }

  private noteLost({ id, state: { attempts: number, updatedAt: startedAt } }: Message): void {
    this.note(id, { number, startedAt, durationMs: null, outcome: 'lost', error: null });
  }

  private note(id: string, attempt: Attempt): void {
    const known = this.store.attempts.get(id) ?? [];
    if (!known.some(({ number }) => number === attempt.number)) this.store.attempts.set(id, [...known, attempt]);
  }

  private put(message: Message): Message {
    this.store.messages.set(message.id, message);
    return message;
  }
}
