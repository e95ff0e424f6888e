import type { ErrorTable } from '#platform/http/errors.js';

export const MESSAGES_ERRORS = {
  message_not_found: {
    status: 404,
    title: 'The message does not exist',
    cause:
      'The account has no message with this id. It may belong to another account, or may have been removed: the operator decides how long messages are kept.',
    cure: 'Check that the id is exactly the one returned when the message was sent, and that the API key belongs to the account that sent it.',
    example: 'The account has no message with this id.',
  },
  invalid_transition: {
    status: 409,
    title: 'The status of the message does not allow this operation',
    cause:
      'Only queued messages can be cancelled, and only failed messages can be retried. The message has another status, which may have changed a moment ago.',
    cure: 'Get the message and decide by its current status, which is also in detail. Do not repeat the request unchanged.',
    example: 'The message is delivered. This operation requires it to be queued.',
  },
  idempotency_key_in_use: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    cause: 'Another request with the same Idempotency-Key has been in progress for several seconds.',
    cure: 'Wait a few seconds, then repeat the request with the same key to get the response to the first one.',
    example: 'The first request with this key is still in progress. Retry later.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key was used for a different request',
    cause:
      'In the last 24 hours, the account sent a different request with the same Idempotency-Key. Nothing was stored.',
    cure: 'Use a new key for each new request, and reuse a key only to repeat the same request.',
    example: 'The Idempotency-Key was used for a different request. Use a new one.',
  },
  storage_full: {
    status: 507,
    title: 'The account has reached its storage limit',
    cause:
      'The messages of the account, with their attempts, use all the storage that the operator of this service allows. Nothing was stored. For any other 5xx the outcome is unknown.',
    cure: 'Do not retry: requests are rejected until older messages have been removed. GET /account/usage returns the storage used and its limit. Ask the operator when messages are removed, or for a higher limit.',
    example: 'The account has reached its limit of 10240 MiB. Older messages must be removed first.',
  },
} satisfies ErrorTable;
