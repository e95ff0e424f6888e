import { idOf, nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import { MAX_RETRIED } from '../../application/retry-failed.js';
import { ATTEMPT_OUTCOMES, type Attempt } from '../../domain/attempt.js';
import type { Message } from '../../domain/message.js';
import { INITIAL_STATUS, MESSAGE_STATUSES } from '../../domain/message-status.js';

/** A message as the answer to its acceptance. */
export interface AcceptedView {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly createdAt: Date;
}

/** A batch as the answer to its acceptance. */
export interface BatchView {
  readonly data: readonly AcceptedView[];
}

/** How many messages were sent off again. */
export interface RetriedView {
  readonly count: number;
}

/** The attempts to deliver a message. */
export interface AttemptsView {
  readonly data: readonly Attempt[];
}

/** A message as it now is. */
export interface MessageView extends AcceptedView {
  /** Null when it was to be delivered at once. */
  readonly deliverAt: Date | null;
  readonly updatedAt: Date;
  readonly attempts: number;
  readonly failureReason: string | null;
}

export const MESSAGE_ID = idOf('msg', 'The id of the message.');

const TEXT = { type: 'string', description: 'The text as it was sent, byte for byte.', examples: ['Hello, Sluice'] };
const CREATED_AT = time('When the message was accepted.');

export const ACCEPTED_MESSAGE = viewModel<AcceptedView>(
  'AcceptedMessage',
  'A message as the answer to its acceptance.',
  {
    id: MESSAGE_ID,
    message: TEXT,
    status: { type: 'string', const: INITIAL_STATUS, description: 'A new message waits for a worker.' },
    createdAt: CREATED_AT,
  },
);

export const MESSAGE = viewModel<MessageView>('Message', 'A message as it now is.', {
  id: MESSAGE_ID,
  message: TEXT,
  status: {
    type: 'string',
    enum: MESSAGE_STATUSES,
    description:
      '`queued`: waits for a worker. `processing`: a worker has it. `delivered`: done. `failed`: given up, see ' +
      '`failureReason`. `cancelled`: called back while it was queued.',
    examples: ['delivered'],
  },
  createdAt: CREATED_AT,
  deliverAt: nullable({ ...time('When to deliver, if not at once.'), examples: [null] }),
  updatedAt: time('When its status last changed.', '2026-11-21T09:30:00.321Z'),
  attempts: { type: 'integer', minimum: 0, description: 'Deliveries begun, over all retries.', examples: [1] },
  failureReason: nullable({ type: 'string', description: 'Why the last attempt failed.', examples: [null] }),
});

export const ACCEPTED_BATCH = viewModel<BatchView>('AcceptedBatch', 'The messages of a batch, in the order sent.', {
  data: { type: 'array', minItems: 1, items: ACCEPTED_MESSAGE },
});

const ATTEMPT = viewModel<Attempt>('Attempt', 'An attempt to deliver a message.', {
  number: { type: 'integer', minimum: 1, description: 'Over all retries of the message.', examples: [1] },
  startedAt: time('When it began.'),
  durationMs: nullable({
    type: 'number',
    minimum: 0,
    description: 'Milliseconds; null while it runs, and when its worker was lost.',
    examples: [170],
  }),
  outcome: {
    type: 'string',
    enum: ATTEMPT_OUTCOMES,
    description:
      '`running`: a worker has the message. `delivered`: done. `retried`: it failed, and another one is due. `failed`: it ' +
      'failed, and there is none after it. `lost`: its worker was silent for too long, and another took over.',
    examples: ['delivered'],
  },
  error: nullable({ type: 'string', description: 'Why it was retried or failed.', examples: [null] }),
});

export const ATTEMPTS = viewModel<AttemptsView>('Attempts', 'The attempts to deliver a message, the newest last.', {
  data: { type: 'array', items: ATTEMPT },
});

export const RETRIED = viewModel<RetriedView>('Retried', 'How many messages were sent off again.', {
  count: { type: 'integer', minimum: 0, maximum: MAX_RETRIED, description: 'Messages.', examples: [17] },
});

export function acceptedView({ state }: Message): AcceptedView {
  return { id: state.id, message: state.text, status: state.status, createdAt: state.createdAt };
}

export function messageView(message: Message): MessageView {
  const { deliverAt, updatedAt, attempts, failureReason } = message.state;
  return { ...acceptedView(message), deliverAt, updatedAt, attempts, failureReason };
}
