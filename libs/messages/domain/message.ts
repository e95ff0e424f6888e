import { DomainError, ValidationError } from '#kernel/domain-error.js';
import { deliverAtFault } from './delivery-time.js';
import { INITIAL_STATUS, TRANSITIONS, type MessageStatus, type Transition } from './message-status.js';
import { textFault } from './message-text.js';

/** A worker's right to run a message. Whoever finishes it must present the same token. */
export interface Claim {
  readonly token: string;
  readonly expiresAt: Date;
  /** The worker runs nothing else meanwhile, so that a crash has one suspect. */
  readonly alone: boolean;
}

/** What a sender says of a message. */
export interface NewMessage {
  readonly text: string;
  readonly deliverAt?: Date | null;
  readonly traceparent?: string | null;
}

export interface MessageState {
  readonly id: string;
  readonly accountId: string;
  readonly text: string;
  /** Not to be delivered earlier; null when that is at once. */
  readonly deliverAt: Date | null;
  /** The trace that it was sent in: a W3C `traceparent`, null when there was none. */
  readonly traceparent: string | null;
  readonly status: MessageStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Deliveries begun so far, over all retries. */
  readonly attempts: number;
  /** Attempts in this round that the handler failed: what the limit of attempts counts. */
  readonly failures: number;
  /** Workers that died while they had it, and how many of those had nothing else at hand. */
  readonly crashes: number;
  readonly loneCrashes: number;
  readonly failureReason: string | null;
  /** How often a failed message was sent on its way again. */
  readonly retries: number;
  readonly claim: Claim | null;
}

/** The aggregate: immutable, each change of state a method that returns the next one or throws `invalid_transition`. */
export class Message {
  private constructor(readonly state: MessageState) {}

  /**
   * A new message.
   * @throws ValidationError when the text is empty, too long or can't be stored as it is, or `deliverAt` is too far ahead
   */
  static queue(
    id: string,
    accountId: string,
    { text, deliverAt = null, traceparent = null }: NewMessage,
    at: Date,
  ): Message {
    const textWrong = textFault(text);
    if (textWrong !== null) throw new ValidationError([{ pointer: '/message', detail: textWrong }]);
    const timeWrong = deliverAt === null ? null : deliverAtFault(deliverAt, at);
    if (timeWrong !== null) throw new ValidationError([{ pointer: '/deliverAt', detail: timeWrong }]);
    return new Message({
      id,
      accountId,
      text,
      deliverAt,
      traceparent,
      status: INITIAL_STATUS,
      createdAt: at,
      updatedAt: at,
      attempts: 0,
      failures: 0,
      crashes: 0,
      loneCrashes: 0,
      failureReason: null,
      retries: 0,
      claim: null,
    });
  }

  /** What a store kept. */
  static restore(state: MessageState): Message {
    return new Message(state);
  }

  get id(): string {
    return this.state.id;
  }

  /** The job's id in the queue. Each retry has a new one, because a queue ignores an id it still knows. */
  get jobId(): string {
    return this.state.retries === 0 ? this.id : `${this.id}.${this.state.retries}`;
  }

  startProcessing(claim: Claim, at: Date): Message {
    return this.move('startProcessing', at, { claim, attempts: this.state.attempts + 1 });
  }

  /** Begins a delivery whose worker was lost. */
  takeOver(claim: Claim, at: Date): Message {
    const { attempts, crashes, loneCrashes } = this.state;
    return this.move('takeOver', at, {
      claim,
      attempts: attempts + 1,
      crashes: crashes + 1,
      loneCrashes: loneCrashes + (this.state.claim?.alone === true ? 1 : 0),
    });
  }

  deliver(at: Date): Message {
    return this.move('deliver', at, { claim: null, failureReason: null });
  }

  requeue(reason: string, at: Date): Message {
    return this.move('requeue', at, { claim: null, failures: this.state.failures + 1, failureReason: reason });
  }

  fail(reason: string, at: Date): Message {
    return this.move('fail', at, { claim: null, failures: this.state.failures + 1, failureReason: reason });
  }

  cancel(at: Date): Message {
    return this.move('cancel', at, {});
  }

  retry(at: Date): Message {
    return this.move('retry', at, {
      retries: this.state.retries + 1,
      failures: 0,
      crashes: 0,
      loneCrashes: 0,
      failureReason: null,
    });
  }

  private move(transition: Transition, at: Date, change: Partial<MessageState>): Message {
    const { from, to } = TRANSITIONS[transition];
    if (this.state.status !== from) {
      throw new DomainError(
        'invalid_transition',
        `The message is ${this.state.status}; only a message that is ${from} allows this.`,
      );
    }
    return new Message({ ...this.state, ...change, status: to, updatedAt: at });
  }
}

/** What a message takes up besides its text, in bytes: about as much as its row has beside it. */
export const OVERHEAD_BYTES = 256;

/** What messages take up, in bytes. */
export function bytesOf(messages: readonly Message[]): number {
  let bytes = 0;
  for (const { state } of messages) bytes += Buffer.byteLength(state.text) + OVERHEAD_BYTES;
  return bytes;
}
