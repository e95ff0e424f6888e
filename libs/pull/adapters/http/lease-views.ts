import { idOf, time, viewModel } from '#platform/http/openapi/schema.js';
import { contentJson, type Message } from '#messages/index.js';
import { LEASE_TOKEN, leaseTokenOf } from './lease-bodies.js';
import { CONTENT, CREATED_AT, MESSAGE_ID, OPTIONAL_CONTENT } from '#messages/adapters/http/index.js';

export function leasedView(message: Message) {
  const { id, createdAt, attempts, claim } = message.state;
  const lease = { leaseToken: leaseTokenOf(message), leaseExpiresAt: claim?.expiresAt };
  return { id, ...contentJson(message.state), createdAt, attempt: attempts, ...lease };
}

const EXPIRES_AT = time('When the lease expires.', '2026-11-21T09:30:30.123Z');

const LEASED_MESSAGE = viewModel<ReturnType<typeof leasedView>>(
  'LeasedMessage',
  'A message that was leased.',
  {
    id: MESSAGE_ID,
    ...CONTENT,
    createdAt: CREATED_AT,
    attempt: {
      type: 'integer',
      minimum: 1,
      description: 'The number of this attempt, over all retries.',
      examples: [1],
    },
    leaseToken: { type: 'string', ...LEASE_TOKEN },
    leaseExpiresAt: EXPIRES_AT,
  },
  OPTIONAL_CONTENT,
);

export const LEASED = viewModel<Record<'data' | 'paused', unknown>>(
  'LeasedMessages',
  'Messages that were leased.',
  {
    data: { type: 'array', items: LEASED_MESSAGE },
    paused: {
      type: 'boolean',
      const: true,
      description: 'Present if no message was available because the account is paused.',
    },
  },
  ['paused'],
);

export const EXTENDED = viewModel<Record<'leaseExpiresAt', unknown>>('ExtendedLease', 'An extended lease.', {
  leaseExpiresAt: EXPIRES_AT,
});

const RESULTS = ['acknowledged', 'lease_lost'] as const;

const ACKNOWLEDGEMENT = viewModel<Record<'id' | 'result', unknown>>('Acknowledgement', 'What became of a message.', {
  id: idOf('msg', 'The id, as it was sent.'),
  result: {
    type: 'string',
    enum: RESULTS,
    description: '`lease_lost`: the lease had expired, or was never one of this message.',
    examples: ['acknowledged'],
  },
});

export const ACKNOWLEDGEMENTS = viewModel<Record<'data', unknown>>(
  'Acknowledgements',
  'What became of each message, in the order in which they were sent.',
  { data: { type: 'array', minItems: 1, items: ACKNOWLEDGEMENT } },
);
