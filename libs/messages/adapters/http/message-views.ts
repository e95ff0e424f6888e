import { enumModel, exampleOf, foreignModel, idOf, nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import { MAX_CANCELLED } from '../../application/changes/cancel-queued.js';
import { MAX_RETRIED } from '../../application/changes/retry-failed.js';
import { ATTEMPT_OUTCOMES, type Attempt } from '../../domain/attempt.js';
import type { Message } from '../../domain/message.js';
import { contentJson } from '../../domain/message-content.js';
import { INITIAL_STATUS, MESSAGE_STATUSES } from '../../domain/message-status.js';
import { CONTENT, OPTIONAL_CONTENT } from './content-views.js';

/** A message as it was accepted. */
export function acceptedView({ state }: Message) {
  const { id, status, createdAt } = state;
  return { id, ...contentJson(state), status, createdAt };
}

/** A message with its current state. @param isCut whether this is only the beginning of its text */
export function messageView(message: Message, isCut = false) {
  const { delivery, updatedAt, attempts, failureReason, nextAttemptAt } = message.state;
  return {
    ...acceptedView(message),
    ...{ delivery, updatedAt, attempts, failureReason, nextAttemptAt },
    ...(isCut && { truncated: true as const }),
  };
}

export const MESSAGE_ID = idOf('msg', 'The id of the message.');

export const CREATED_AT = time('When the message was accepted.');

export const ACCEPTED_MESSAGE = viewModel<ReturnType<typeof acceptedView>>(
  'AcceptedMessage',
  'A message that was accepted.',
  {
    id: MESSAGE_ID,
    ...CONTENT,
    status: { type: 'string', const: INITIAL_STATUS, description: 'New messages are queued.' },
    createdAt: CREATED_AT,
  },
  OPTIONAL_CONTENT,
);

export const MESSAGE_STATUS = enumModel(
  'MessageStatus',
  '`queued`: waiting for a worker. `processing`: being delivered. `delivered`: delivered. `failed`: all attempts failed, ' +
    'see `failureReason`. `cancelled`: cancelled before delivery. `skipped`: no endpoint wants messages of its type.',
  MESSAGE_STATUSES,
);

export const MESSAGE = viewModel<ReturnType<typeof messageView>>(
  'Message',
  'A message with its current state.',
  {
    id: MESSAGE_ID,
    ...CONTENT,
    status: { $ref: MESSAGE_STATUS, examples: ['delivered'] },
    createdAt: CREATED_AT,
    delivery: {
      ...foreignModel('DeliveryMode', 'handler'),
      description: "The account's mode of delivery when the message was accepted.",
    },
    updatedAt: time('When the status last changed.', '2026-11-21T09:30:00.321Z'),
    attempts: {
      type: 'integer',
      minimum: 0,
      description: 'Delivery attempts so far, including those before a retry.',
      examples: [1],
    },
    failureReason: nullable({ type: 'string', description: 'Why the last attempt failed.', examples: [null] }),
    nextAttemptAt: {
      ...nullable(time('When the next attempt is due.')),
      description:
        'When the next attempt is due, while the message waits for that: its `deliverAt`, the wait after a failed attempt, ' +
        'the `delaySeconds` of a lease that was given back, or the earliest of these of its endpoints. Otherwise null.',
      examples: [null],
    },
    truncated: {
      type: 'boolean',
      description: 'True in a list with `preview`, if the text is longer than what `message` shows. Otherwise absent.',
    },
  },
  [...OPTIONAL_CONTENT, 'truncated'],
);

export const EVENTS = {
  type: 'string',
  description:
    'Server-sent events. `event` is `message.` and the new status, `data` the message as JSON (see the schema Message), as ' +
    'that change has left it.',
  examples: [
    ['event: message.delivered', 'id: 48211-48215-9007', `data: ${JSON.stringify(exampleOf(MESSAGE))}`, '', ''].join(
      '\n',
    ),
  ],
};

export const ACCEPTED_BATCH = viewModel<Record<'data', unknown>>(
  'AcceptedBatch',
  'The messages of a batch, in the order they were sent.',
  {
    data: { type: 'array', minItems: 1, items: ACCEPTED_MESSAGE },
  },
);

const ATTEMPT = viewModel<Attempt>('Attempt', 'A delivery attempt.', {
  number: {
    type: 'integer',
    minimum: 1,
    description: 'Starts at 1 and continues after a retry of the message.',
    examples: [1],
  },
  target: {
    type: 'string',
    description:
      'What the message was delivered to: `handler`: a handler of the built-in worker. `worker`: a BullMQ worker of another ' +
      'program. `pull`: a client that leased it. Otherwise the id of an endpoint.',
    examples: ['handler'],
  },
  startedAt: time('When the attempt started.'),
  durationMs: nullable({
    type: 'number',
    minimum: 0,
    description: 'The duration in milliseconds. Null while the attempt is running or if its worker was lost.',
    examples: [170],
  }),
  outcome: {
    type: 'string',
    enum: ATTEMPT_OUTCOMES,
    description:
      '`running`: in progress. `delivered`: succeeded. `retried`: failed, and another attempt follows. `failed`: failed, ' +
      'and no attempt follows. `lost`: the worker stopped responding, and another one took over.',
    examples: ['delivered'],
  },
  error: nullable({ type: 'string', description: 'Why the attempt failed. Null if it did not.', examples: [null] }),
  responseStatus: nullable({
    type: 'integer',
    description: 'The HTTP status with which an endpoint responded. Null without a response.',
    examples: [null],
  }),
  responseBody: nullable({
    type: 'string',
    description: 'The first KiB of the response of an endpoint. Null without a response.',
    examples: [null],
  }),
});

export const ATTEMPTS = viewModel<Record<'data', unknown>>(
  'Attempts',
  'The delivery attempts of a message, oldest first.',
  {
    data: { type: 'array', items: ATTEMPT },
  },
);

export const CANCELLED = viewModel<Record<'count', unknown>>('Cancelled', 'The result of cancelling queued messages.', {
  count: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_CANCELLED,
    description: 'The number of messages that were cancelled.',
    examples: [17],
  },
});

export const RETRIED = viewModel<Record<'count', unknown>>('Retried', 'The result of retrying failed messages.', {
  count: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_RETRIED,
    description: 'The number of messages that were queued again.',
    examples: [17],
  },
});
