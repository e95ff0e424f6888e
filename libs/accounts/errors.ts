import type { ErrorTable } from '#platform/http/errors.js';

export const ACCOUNTS_ERRORS = {
  unauthorized: {
    status: 401,
    title: 'The API key is missing or invalid',
    cause:
      'The request has no API key, or the key is unknown, malformed, expired or revoked. The response is the same for all of these.',
    cure: 'Send one Authorization: Bearer <API_KEY> header, with one space and nothing after the key. If the key expired or was revoked, use another one.',
    example: 'Send a valid API key: Authorization: Bearer <API_KEY>.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key lacks a required scope',
    cause: 'The API key is valid, but does not have the scope that this operation requires.',
    cure: 'Use a key with the scope named in detail. A key with the scope account:manage can create one with POST /api-keys.',
    example: 'Use an API key with the scope messages:send.',
  },
  signup_closed: {
    status: 403,
    title: 'Sign-up is disabled',
    cause: 'The operator of this service has disabled sign-up.',
    cure: 'Ask the operator for an account.',
    example: 'Sign-up is disabled. Ask the operator for an account.',
  },
  account_suspended: {
    status: 403,
    title: 'The account is suspended',
    cause:
      'The operator of this service has suspended the account. Its messages are kept, and those that are queued wait until it is resumed. The request was not processed, but counts against the limits of the account.',
    cure: 'Contact the operator of this service. All keys of the account work again once it is resumed.',
    example: 'The operator of this service has suspended your account. Contact them.',
  },
  account_not_found: {
    status: 404,
    title: 'The account does not exist',
    cause: 'There is no account with this id.',
    cure: 'Use an id from GET /admin/accounts.',
    example: 'There is no account with this id.',
  },
  external_id_taken: {
    status: 409,
    title: 'Another account has this externalId',
    cause: 'An externalId belongs to one account at most.',
    cure: 'Find the account with GET /admin/accounts?externalId=…, or choose another externalId.',
    example: 'Another account has this externalId. Find it with GET /admin/accounts.',
  },
  api_key_not_found: {
    status: 404,
    title: 'The API key does not exist',
    cause:
      'The account has no active key with this id. The id may be unknown or belong to another account, or the key has expired or was revoked.',
    cure: 'Use an id from GET /api-keys. It starts with key_ and is not the secret key.',
    example: 'The account has no active key with this id.',
  },
  portal_link_not_found: {
    status: 404,
    title: 'The link to the portal cannot be opened',
    cause: 'The token of the link is unknown: it was exchanged before, has expired, or was revoked.',
    cure: 'Make another link with POST /admin/accounts/{id}/portal-links. A customer asks the operator for one.',
    example: 'The link was used, has expired or was revoked. Ask whoever gave it to you for another one.',
  },
  plan_not_found: {
    status: 404,
    title: 'The plan does not exist',
    cause: 'There is no plan with this name.',
    cure: 'Use a name from GET /admin/plans, or create the plan with PUT /admin/plans/{name}.',
    example: 'There is no plan with this name.',
  },
  plan_in_use: {
    status: 409,
    title: 'The plan is in use',
    cause: 'Accounts have the plan, or new accounts get it (SIGNUP_PLAN). Nothing was deleted.',
    cure: 'Give the accounts another plan with PATCH /admin/accounts/{id}. The plan of new accounts cannot be deleted.',
    example: 'The plan cannot be deleted: accounts have it. Give them another plan first.',
  },
  plan_changed: {
    status: 412,
    title: 'The plan has changed',
    cause:
      'The plan does not have the version in If-Match, or exists despite If-None-Match: somebody else has changed or created it. Nothing was changed.',
    cure: 'Read the plan again, decide whether your change still applies, and repeat it with the new ETag.',
    example:
      'Somebody else has changed the plan, or it exists already: it is not as If-Match or If-None-Match requires. Read it again.',
  },
  too_many_keys: {
    status: 409,
    title: 'The account has too many API keys',
    cause: 'The account has reached its maximum number of active API keys.',
    cure: 'Revoke unused keys with DELETE /api-keys/{id}. GET /api-keys returns when each was last used (lastUsedAt).',
    example: 'An account can have at most 100 active keys. Revoke one first.',
  },
} satisfies ErrorTable;
