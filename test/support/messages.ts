import { createHash, randomUUID } from 'node:crypto';
import { Clock } from '#kernel/clock.js';
import { DomainError } from '#kernel/domain-error.js';
import { UuidV7Ids } from '#kernel/ids.js';
import type { ClaimTerms, Deliveries, Job } from '#messages/application/delivering/deliveries.js';
import type { Delivery } from '#delivery/index.js';
import type { MessagePage } from '#messages/application/messages.js';
import type { Idempotency } from '#messages/domain/idempotency.js';
import { contentJson, contentOfJson, MessageContent } from '#messages/domain/message-content.js';
import { MAX_TEXT_BYTES } from '#messages/domain/message-text.js';
import { Message, type Claim, type MessageState } from '#messages/domain/message.js';

const ids = new UuidV7Ids();

/** The moment at which all builders' messages were sent. */
export const SENT_AT = new Date('2026-11-21T09:30:00.123Z');

/** The first page of a list of messages, without a filter. */
export const FIRST_PAGE: MessagePage = {
  ...{ limit: 100, before: null },
  ...{ status: null, endpointId: null, type: null, since: null, until: null, preview: null },
};

/** A trace that a message may be sent in. */
export const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

export function after(ms: number, moment = SENT_AT): Date {
  return new Date(moment.getTime() + ms);
}

/** A clock that stands still until it is set. */
export class TestClock extends Clock {
  private moment = SENT_AT;

  now(): Date {
    return this.moment;
  }

  advance(ms: number): void {
    this.moment = after(ms, this.moment);
  }
}

export function anAccountId(): string {
  return ids.next('acct', SENT_AT);
}

/** A valid message that was just queued, but for what is given; with an invalid text, as only a store could hold it. */
export function aMessage(state: Partial<MessageState> = {}): Message {
  const createdAt = state.createdAt ?? SENT_AT;
  const content = MessageContent.parse({ text: 'hello' }, createdAt);
  const terms = { traceparent: null, delivery: 'handler' } as const;
  const queued = Message.queue(ids.next('msg', createdAt), 'acct_of_nobody', content, terms, createdAt);
  return Message.restore({ ...queued.state, ...state });
}

/** As many messages, their texts numbered from 0. */
export function messages(count: number, state: Partial<MessageState> = {}): Message[] {
  return Array.from({ length: count }, (_, index) => aMessage({ text: `message ${index}`, ...state }));
}

/** A text of the size that a message may just have, or a part of it. */
export function textOf(bytes = MAX_TEXT_BYTES): string {
  return 'x'.repeat(bytes);
}

/** A message that no store and no queue can take. */
export function anUnstorable(): Message {
  return aMessage({ text: 'before \u0000 after' });
}

export function aClaim(claim: Partial<Claim> = {}): Claim {
  return { token: randomUUID(), expiresAt: after(45_000), alone: false, ...claim };
}

export function claimTerms(terms: Partial<ClaimTerms> = {}): ClaimTerms {
  return { token: randomUUID(), leaseMs: 45_000, ...terms };
}

/** The job that the queue carries for a message as it is. */
export function jobOf({ state }: Message): Job {
  const { id, accountId, createdAt, retries } = state;
  return { id, accountId, content: contentOfJson(contentJson(state)), createdAt, retries };
}

/** Claims a message that may be started. */
export async function claim(deliveries: Deliveries, message: Message, terms = claimTerms()): Promise<Message> {
  const claimed = await deliveries.claim(jobOf(message), terms);
  if (claimed === null || 'dueInMs' in claimed) throw new Error('There was nothing to claim.');
  return claimed;
}

/** What a handler is given in the first of five attempts, but for what is given here. */
export function aDelivery(delivery: Partial<Delivery> = {}): Delivery {
  const { id, state } = aMessage();
  return {
    ...{ id, accountId: state.accountId, ...contentJson(state), createdAt: state.createdAt, traceparent: null },
    ...{ attempt: 1, attemptsLeft: 4, deadline: new Date(Date.now() + 30_000) },
    ...delivery,
  };
}

export function idempotency(key: string, request = key): Idempotency {
  return { key, fingerprint: createHash('sha256').update(request).digest() };
}

/** What a function throws. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('It did not throw.');
}

export function unavailable(): DomainError {
  return new DomainError('unavailable', 'The store is away.');
}
