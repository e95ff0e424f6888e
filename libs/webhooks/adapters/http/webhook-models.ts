import { CONTENT, REQUIRED_CONTENT } from '#messages/adapters/http/index.js';
import { exampleOf, idOf, Model, time } from '#platform/http/openapi/schema.js';
import { OPERATIONAL_EVENTS } from '../../domain/operational-event.js';
import { ENDPOINT } from './views.js';

const EXAMPLE_TIME = '2026-11-21T09:30:00.123Z';

export const MESSAGE_WEBHOOK = new Model('MessageWebhook', {
  type: 'object',
  description: 'A message, as an endpoint gets it.',
  properties: {
    type: {
      type: 'string',
      description: 'The type of the message, or `message` if it has none. `test`: sent by `POST /endpoints/{id}/test`.',
      examples: ['message'],
    },
    timestamp: time('When the message was accepted.', EXAMPLE_TIME),
    data: {
      type: 'object',
      properties: {
        id: idOf('msg', 'The id of the message.'),
        ...CONTENT,
        createdAt: time('When the message was accepted.', EXAMPLE_TIME),
      },
      required: ['id', ...REQUIRED_CONTENT, 'createdAt'],
    },
  },
  required: ['type', 'timestamp', 'data'],
});

const EVENT_DATA = {
  'sluice.message.failed': { $ref: '#/components/schemas/Message' },
  'sluice.endpoint.disabled': ENDPOINT,
  'sluice.account.limit_reached': {
    type: 'object',
    properties: {
      window: { type: 'string', enum: ['minute', 'day'], description: 'The window that refused a request.' },
      minute: { $ref: '#/components/schemas/UsageWindow' },
      day: { $ref: '#/components/schemas/UsageWindow' },
    },
    required: ['window', 'minute', 'day'],
  },
} satisfies Record<(typeof OPERATIONAL_EVENTS)[number], unknown>;

const header = (name: string, description: string, example: string) => ({
  ...{ name, in: 'header', required: true, description },
  schema: { type: 'string', examples: [example] },
});

const PARAMETERS = [
  header('user-agent', 'The version of the service.', 'Sluice/0.1.0'),
  header(
    'webhook-id',
    'The id of the message, the same in every attempt: detect repetitions by it.',
    'msg_01h455vb4pex5vsknk084sn02q',
  ),
  header('webhook-timestamp', 'When the attempt was made, in seconds since 1970.', '1795253400'),
  header(
    'webhook-signature',
    'Signatures by each secret of the endpoint, separated by spaces.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

const RESPONSES = {
  '2XX': { description: 'The endpoint has the message.' },
  '410': { description: 'The endpoint is disabled and gets no more messages.' },
  default: {
    description: 'The attempt failed and is repeated. With 429 and 503, not before `Retry-After`.',
  },
};

const EVENT = {
  type: 'object',
  description: 'What an endpoint gets that names operational events in its `types`.',
  properties: {
    type: { type: 'string', enum: OPERATIONAL_EVENTS },
    timestamp: time('When it happened.', EXAMPLE_TIME),
    data: { anyOf: Object.values(EVENT_DATA) },
  },
  required: ['type', 'timestamp', 'data'],
};

const EVENT_EXAMPLE = {
  type: 'sluice.account.limit_reached',
  timestamp: EXAMPLE_TIME,
  data: {
    window: 'minute',
    minute: { limit: 60, used: 60, remaining: 0, resetsAt: EXAMPLE_TIME },
    day: { limit: 1_000, used: 60, remaining: 940, resetsAt: EXAMPLE_TIME },
  },
};

/** The requests that endpoints get. */
export const WEBHOOKS = {
  message: {
    post: {
      operationId: 'receiveMessage',
      tags: ['Webhooks'],
      summary: 'Receive a message',
      description:
        'Sent to each endpoint of an account with the mode of delivery `webhooks` whose `types` match, at least once. ' +
        'Verify the signature first: [Standard Webhooks](https://www.standardwebhooks.com) 1.0.0.',
      security: [],
      parameters: PARAMETERS,
      requestBody: {
        required: true,
        // Not a reference: oapi-codegen leaves out models that only webhooks refer to.
        content: { 'application/json': { schema: MESSAGE_WEBHOOK.schema, example: exampleOf(MESSAGE_WEBHOOK) } },
      },
      responses: RESPONSES,
    },
  },
  operationalEvent: {
    post: {
      operationId: 'receiveOperationalEvent',
      tags: ['Webhooks'],
      summary: 'Receive an operational event',
      description:
        'Sent to endpoints whose `types` name it, such as `sluice.message.failed` or `sluice.*`, whatever the mode of ' +
        'delivery is. The data of `sluice.message.failed` is the message, that of `sluice.endpoint.disabled` the endpoint, ' +
        'and that of `sluice.account.limit_reached` the limits.',
      security: [],
      parameters: PARAMETERS,
      requestBody: { required: true, content: { 'application/json': { schema: EVENT, example: EVENT_EXAMPLE } } },
      responses: RESPONSES,
    },
  },
};
