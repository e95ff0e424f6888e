import {
  Deliveries,
  type ClaimTerms,
  type Job,
  type JobEnd,
  type NotDue,
} from '#messages/application/delivering/deliveries.js';
import { WORKER_STALLED, type Attempt } from '#messages/domain/attempt.js';
import { Message, type Claim } from '#messages/domain/message.js';
import { OPEN_STATUSES, TRANSITIONS } from '#messages/domain/message-status.js';
import { MAX_EXCUSED } from '#messages/domain/retry-policy.js';
import { after } from '../../support/messages.js';
import type { InMemoryStore } from './in-memory-store.js';

const NO_RESPONSE = { responseStatus: null, responseBody: null };

/** The rules of the port in TypeScript: `agreement.spec.ts` compares the SQL with them. */
export class InMemoryDeliveries extends Deliveries {
  constructor(private readonly store: InMemoryStore) {
    super();
  }

  claim({ id, retries }: Job, { token, leaseMs }: ClaimTerms): Promise<Message | NotDue | null> {
    const at = this.store.clock.now();
    const found = this.store.messages.get(id);
    if (found?.state.retries !== retries) return Promise.resolve(null);
    if (found.state.claim?.token === token) return Promise.resolve(found);
    const dueInMs = (found.state.nextAttemptAt?.getTime() ?? 0) - at.getTime();
    if (dueInMs > 0 && found.state.updatedAt <= at) return Promise.resolve({ dueInMs });
    const started = this.start(found, { token, expiresAt: after(leaseMs, at), alone: false });
    return Promise.resolve(started && this.put(started));
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
    // Each claim counts an attempt, so the count shows whose end is already stored.
    const isRepeated =
      found?.status === ended.state.status && found.attempts === state.attempts && found.retries === state.retries;
    if (found === undefined || (found.claim?.token !== state.claim?.token && !isRepeated)) {
      return Promise.resolve(false);
    }
    const outcome = ended.state.status === 'queued' ? 'retried' : (ended.state.status as 'delivered' | 'failed');
    const { attempts: number, updatedAt: startedAt } = state;
    const at = this.store.clock.now();
    const durationMs = at.getTime() - startedAt.getTime();
    this.note(id, { number, startedAt, durationMs, outcome, error: ended.state.failureReason });
    const nextAttemptAt = ended.waitMs === null ? null : after(ended.waitMs, at);
    this.put(Message.restore({ ...ended.state, updatedAt: at, nextAttemptAt }));
    return Promise.resolve(true);
  }

  excuse({ id, state: { retries, attempts: number } }: Message): Promise<void> {
    const found = this.store.messages.get(id)?.state;
    const attempts = this.store.attempts.get(id) ?? [];
    const lost = attempts.find((one) => one.number === number && one.outcome === 'lost' && one.error === null);
    const excused = attempts.filter(({ outcome, error }) => outcome === 'lost' && error === WORKER_STALLED).length;
    if (lost === undefined || found === undefined || excused >= MAX_EXCUSED) return Promise.resolve();
    if (found.retries !== retries || !OPEN_STATUSES.some((open) => open === found.status) || found.crashes === 0) {
      return Promise.resolve();
    }
    this.store.attempts.set(
      id,
      attempts.map((one) => (one === lost ? { ...one, error: WORKER_STALLED } : one)),
    );
    this.put(Message.restore({ ...found, crashes: found.crashes - 1 }));
    return Promise.resolve();
  }

  follow(ends: readonly JobEnd[]): Promise<number> {
    const at = this.store.clock.now();
    let followed = 0;
    for (const { id, retries, attempts, failedReason, run } of ends) {
      const found = this.store.messages.get(id);
      const held = found?.state.claim ?? null;
      if (found?.state.retries !== retries || (held !== null && held.expiresAt >= at)) continue;
      const started = this.start(found, { token: 'elsewhere', expiresAt: at, alone: false });
      if (started === null) continue;
      const { state } = failedReason === null ? started.deliver(at) : started.fail(failedReason, at);
      const number = state.attempts + attempts - 1;
      this.put(Message.restore({ ...state, attempts: number, failures: state.failures + attempts - 1 }));
      const { startedAt, endedAt } = run ?? { startedAt: at, endedAt: at };
      const outcome = failedReason === null ? 'delivered' : 'failed';
      const durationMs = endedAt.getTime() - startedAt.getTime();
      this.note(id, { number, startedAt, durationMs, outcome, error: failedReason }, 'worker');
      followed++;
    }
    return Promise.resolve(followed);
  }

  /** @returns the message as a worker starts it, or takes it over; null when it is final */
  private start(message: Message, claim: Claim): Message | null {
    const { status, attempts: number, updatedAt: startedAt } = message.state;
    const at = this.store.clock.now();
    if (status === TRANSITIONS.startProcessing.from) return message.startProcessing(claim, at);
    if (status !== TRANSITIONS.takeOver.from) return null;
    this.note(message.id, { number, startedAt, durationMs: null, outcome: 'lost', error: null });
    return message.takeOver(claim, at);
  }

  private note(id: string, ended: Omit<Attempt, 'target' | keyof typeof NO_RESPONSE>, target = 'handler'): void {
    const attempt = { ...ended, target, ...NO_RESPONSE };
    const known = this.store.attempts.get(id) ?? [];
    if (!known.some(({ number }) => number === attempt.number)) this.store.attempts.set(id, [...known, attempt]);
  }

  private put(message: Message): Message {
    this.store.messages.set(message.id, message);
    return message;
  }
}
