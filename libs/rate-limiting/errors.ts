import type { ErrorTable } from '#platform/http/errors.js';

export const RATE_LIMITING_ERRORS = {
  batch_exceeds_limit: {
    status: 400,
    title: 'The batch exceeds the rate limit of the plan',
    cause:
      'Each message of a batch counts as one request, and this batch has more messages than the plan allows per minute or per day. It can never be accepted. Nothing was stored.',
    cure: 'Send smaller batches, or move to a plan with higher limits. X-RateLimit-Limit contains the limit.',
    example: 'Your plan allows at most 60 messages per batch. Send smaller batches.',
  },
  ban_not_found: {
    status: 404,
    title: 'The API key is not banned',
    cause: 'There is no active ban of a key with this id. It may have expired.',
    cure: 'Use a keyId from GET /admin/bans.',
    example: 'No key with this id is banned.',
  },
  api_key_banned: {
    status: 429,
    title: 'The API key is temporarily banned',
    cause: 'After the rate limit was exceeded, too many further requests were sent with this key.',
    cure: 'Stop sending requests with this key for the number of seconds in Retry-After, and make your client respect Retry-After. Programs that share a key share its ban: give each one its own. Each further ban within 24 hours lasts twice as long.',
    example: 'This key is banned because it kept sending after 429 responses. Send nothing with it for 60 s.',
  },
} satisfies ErrorTable;
