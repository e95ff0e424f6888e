import { ACCOUNTS_ERRORS } from '#accounts/errors.js';
import { EVENTS_ERRORS } from '#events/errors.js';
import { MESSAGES_ERRORS } from '#messages/errors.js';
import { HTTP_ERRORS, type ErrorTable } from '#platform/http/errors.js';
import { PULL_ERRORS } from '#pull/errors.js';
import { RATE_LIMITING_ERRORS } from '#rate-limiting/errors.js';
import { WEBHOOKS_ERRORS } from '#webhooks/errors.js';

/** Every error of the API: its HTTP status, and the texts of its page and of the OpenAPI document. */
export const ERRORS: ErrorTable = {
  ...HTTP_ERRORS,
  ...ACCOUNTS_ERRORS,
  ...RATE_LIMITING_ERRORS,
  ...MESSAGES_ERRORS,
  ...PULL_ERRORS,
  ...WEBHOOKS_ERRORS,
  ...EVENTS_ERRORS,
};
