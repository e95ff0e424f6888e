import { pageModel } from '#platform/http/body/paging.js';
import { enumModel, idOf, nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import type { IssuedEndpoint } from '../../application/endpoints/create-endpoint.js';
import type { TestResult } from '../../application/endpoints/test-endpoint.js';
import { DISABLED_REASONS, MAX_RATE_LIMIT, type Endpoint } from '../../domain/endpoint.js';

export function endpointView(of: Endpoint) {
  const { accountId: _accountId, revision: _revision, failingUntil: _failingUntil, ...endpoint } = of;
  return endpoint;
}

export function issuedEndpointView({ endpoint, secret }: IssuedEndpoint) {
  return { ...endpointView(endpoint), secret };
}

export function issuedSecretView(secret: string) {
  return { secret };
}

export function replayedView(count: number) {
  return { count };
}

export const ENDPOINT_ID = idOf('ep', 'The id of the endpoint.');

const SECRET_FIELD = {
  type: 'string',
  pattern: '^whsec_',
  description: 'Verifies the signatures. It cannot be retrieved again.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
};

const DISABLED_REASON = enumModel(
  'DisabledReason',
  '`by_account`: with `enabled`. `gone`: it answered 410. `failing`: for days, every attempt has failed.',
  DISABLED_REASONS,
);

const ENDPOINT_FIELDS = {
  id: ENDPOINT_ID,
  url: { type: 'string', description: 'Where messages are posted.', examples: ['https://example.com/hooks'] },
  description: { type: 'string', description: 'What it is for. Empty if not given.', examples: ['orders'] },
  rateLimitPerSecond: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_RATE_LIMIT,
    description: 'The maximum number of requests per second. 0 for no limit.',
    examples: [0],
  },
  types: {
    type: 'array',
    items: { type: 'string' },
    description: 'The types of messages that it gets. Empty for all.',
    examples: [['order.*']],
  },
  headerNames: {
    type: 'array',
    items: { type: 'string' },
    description: 'The names of the headers that are sent along. Their values are never shown.',
    examples: [['Authorization']],
  },
  enabled: { type: 'boolean', description: 'Whether it gets new messages.', examples: [true] },
  createdAt: time('When the endpoint was created.'),
  disabledAt: nullable({ ...time('When it was disabled. Null while it is enabled.'), examples: [null] }),
  disabledReason: nullable({
    $ref: DISABLED_REASON,
    description: 'Why it was disabled. Null while it is enabled.',
    examples: [null],
  }),
  failingSince: nullable({
    ...time(
      'The first failed attempt since the last successful one, or since a day without any. Null if there is none.',
    ),
    examples: [null],
  }),
};

export const ENDPOINT = viewModel<ReturnType<typeof endpointView>>(
  'Endpoint',
  'A URL that messages are posted to.',
  ENDPOINT_FIELDS,
);

export const ENDPOINT_PAGE = pageModel(ENDPOINT);

export const ISSUED_ENDPOINT = viewModel<ReturnType<typeof issuedEndpointView>>(
  'IssuedEndpoint',
  'A new endpoint with its secret, which is shown only once.',
  { ...ENDPOINT_FIELDS, secret: SECRET_FIELD },
);

export const ISSUED_SECRET = viewModel<ReturnType<typeof issuedSecretView>>(
  'IssuedSecret',
  'The new secret of an endpoint, which is shown only once.',
  { secret: SECRET_FIELD },
);

export const REPLAYED = viewModel<ReturnType<typeof replayedView>>('Replayed', 'The result of replaying messages.', {
  count: { type: 'integer', minimum: 0, description: 'How many messages will be posted.', examples: [17] },
});

export const TEST_RESULT = viewModel<TestResult>('TestResult', 'What an endpoint answered to a test.', {
  status: nullable({
    type: 'integer',
    description: 'The HTTP status of the answer. Null if there was none, see `error`.',
    examples: [204],
  }),
  durationMs: { type: 'integer', minimum: 0, description: 'How long it took, in milliseconds.', examples: [87] },
  body: { type: 'string', description: 'The first KiB of the answer.', examples: [''] },
  error: nullable({ type: 'string', description: 'Why there was no answer.', examples: [null] }),
});
