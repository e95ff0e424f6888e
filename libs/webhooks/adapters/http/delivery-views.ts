import { pageModel } from '#platform/http/body/paging.js';
import { enumModel, idOf, nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import { ENDPOINT_DELIVERY_STATUSES } from '#messages/index.js';
import type { EndpointDelivery, EndpointName } from '../../application/delivery-log.js';
import { ENDPOINT_ID } from './views.js';

export const DELIVERY_STATUS = enumModel(
  'EndpointDeliveryStatus',
  '`pending`: waits for an attempt, or one is being made. `delivered`: the endpoint has it. `failed`: its attempts were used ' +
    'up, or while it was waiting, the endpoint was disabled or deleted, or its types were changed.',
  ENDPOINT_DELIVERY_STATUSES,
);

const FIELDS = {
  messageId: idOf('msg', 'The id of the message.'),
  endpointId: ENDPOINT_ID,
  status: { $ref: DELIVERY_STATUS, examples: ['pending'] },
  attempts: {
    type: 'integer',
    minimum: 0,
    description: 'Attempts to deliver it to the endpoint so far.',
    examples: [1],
  },
  nextAttemptAt: nullable(
    time('When the next attempt is due. Null if that is now, if it waits for another message, or if there is none.'),
  ),
  lastAttemptAt: nullable(time('When the last attempt that has ended began. Null if there is none.')),
  durationMs: nullable({
    type: 'number',
    minimum: 0,
    description: 'How long that took, in milliseconds. Null if its worker was lost.',
    examples: [170],
  }),
  responseStatus: nullable({
    type: 'integer',
    description: 'The HTTP status with which the endpoint responded to it. Null without a response.',
    examples: [503],
  }),
  responseBody: nullable({
    type: 'string',
    description: 'The first KiB of that response. Null without a response.',
    examples: ['Try again later.'],
  }),
  error: nullable({
    type: 'string',
    description: 'Why it has not been delivered, if an attempt failed. Otherwise null.',
    examples: ['HTTP 503'],
  }),
};

export const ENDPOINT_DELIVERY = viewModel<EndpointDelivery>(
  'EndpointDelivery',
  'The delivery of a message to an endpoint.',
  FIELDS,
);

export const ENDPOINT_DELIVERY_PAGE = pageModel(ENDPOINT_DELIVERY);

const MESSAGE_DELIVERY = viewModel<EndpointDelivery & EndpointName>(
  'MessageDelivery',
  'The delivery of a message to an endpoint, with what the endpoint is called.',
  {
    ...FIELDS,
    url: nullable({
      type: 'string',
      description: 'Where the endpoint is. Null if it was deleted, or if the key lacks `account:manage`.',
      examples: ['https://example.com/hooks'],
    }),
    description: nullable({
      type: 'string',
      description: 'What the endpoint is for. Null like `url`.',
      examples: ['orders'],
    }),
  },
);

export const MESSAGE_DELIVERIES = viewModel<Record<'data', unknown>>(
  'MessageDeliveries',
  'The deliveries of a message, the oldest endpoint first.',
  { data: { type: 'array', items: MESSAGE_DELIVERY } },
);
