import type { ErrorTable } from '#platform/http/errors.js';

export const WEBHOOKS_ERRORS = {
  webhooks_disabled: {
    status: 403,
    title: 'Webhooks are disabled',
    cause: 'The operator of this service has not enabled webhooks.',
    cure: 'Consume messages in another way, or ask the operator to set SECRETS_KEY.',
    example: 'Webhooks are disabled on this service. Ask the operator to set SECRETS_KEY.',
  },
  endpoint_not_found: {
    status: 404,
    title: 'The endpoint does not exist',
    cause: 'The account has no endpoint with this id. It may belong to another account, or may have been deleted.',
    cure: 'Use an id from GET /endpoints.',
    example: 'The account has no endpoint with this id.',
  },
  endpoint_disabled: {
    status: 409,
    title: 'The endpoint is disabled',
    cause: 'Nothing is posted to an endpoint while it is disabled.',
    cure: 'Enable it with PATCH /endpoints/{id}, then repeat the request.',
    example: 'The endpoint is disabled. Enable it first.',
  },
  too_many_endpoints: {
    status: 409,
    title: 'The account has too many endpoints',
    cause: 'The account has as many endpoints as its plan allows, enabled or not.',
    cure: 'Delete endpoints that are no longer used with DELETE /endpoints/{id}, or move to a plan with more.',
    example: 'The account can have at most 50 endpoints. Delete one first.',
  },
} satisfies ErrorTable;
