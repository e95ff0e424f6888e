import { idOf, nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import type { Account } from '../../domain/account.js';
import { SCOPES, type ApiKey } from '../../domain/api-key.js';
import { MAX_LIMIT, type Limits } from '../../domain/limits.js';
import { PLANS } from '../../domain/plan.js';
import type { IssuedKey } from '../../application/api-keys.js';

export function accountView({ id, name, plan, limits, createdAt }: Account) {
  return { id, name, plan, limits, createdAt };
}

/** A key with its only appearance in the clear. */
export function issuedKeyView({ apiKey, key }: IssuedKey) {
  const { id, name, scopes, createdAt, expiresAt } = apiKey;
  return { id, name, key, scopes, createdAt, expiresAt };
}

export function apiKeyView({ id, name, scopes, createdAt, expiresAt, lastUsedAt }: ApiKey) {
  return { id, name, scopes, createdAt, expiresAt, lastUsedAt };
}

export const ACCOUNT_ID = idOf('acct', 'The id of the account.');
export const KEY_ID = idOf('key', 'The id of the key, which is not the key itself.');

const ACCOUNT_NAME = { type: 'string', description: 'The name given at sign-up.', examples: ['Acme'] };
const OPENED_AT = time('When the account was opened.');
const COUNT = { type: 'integer', minimum: 1, maximum: MAX_LIMIT };

export const LIMITS = viewModel<Limits>('Limits', 'Requests that all keys of the account share.', {
  perMinute: { ...COUNT, examples: [60] },
  perDay: { ...COUNT, examples: [1_000] },
});

export const ACCOUNT = viewModel<ReturnType<typeof accountView>>('Account', 'An account.', {
  id: ACCOUNT_ID,
  name: ACCOUNT_NAME,
  plan: { type: 'string', enum: PLANS, description: 'The plan, from which the limits follow.' },
  limits: LIMITS,
  createdAt: OPENED_AT,
});

const KEY_FIELDS = {
  id: KEY_ID,
  name: { type: 'string', description: 'What the key is for.', examples: ['first key'] },
  scopes: {
    type: 'array',
    uniqueItems: true,
    items: { type: 'string', enum: SCOPES },
    description: 'What the key may do.',
    examples: [SCOPES],
  },
  createdAt: time('When the key was issued.'),
  expiresAt: nullable(time('When the key stops working; null for never.', '2027-01-31T12:00:00.000Z')),
};

export const ISSUED_KEY = viewModel<ReturnType<typeof issuedKeyView>>('IssuedKey', 'A new API key, shown this once.', {
  ...KEY_FIELDS,
  key: {
    type: 'string',
    pattern: '^slc_',
    description: 'The key itself. It is shown in this answer only; keep it secret.',
    examples: ['slc_…'],
  },
});

export const API_KEY = viewModel<ReturnType<typeof apiKeyView>>('ApiKey', 'An API key, without the key itself.', {
  ...KEY_FIELDS,
  lastUsedAt: nullable(time('When the key was last used, to the minute; null for never.', '2026-11-21T09:30:00.000Z')),
});

export const NEW_ACCOUNT = viewModel<Record<'id' | 'name' | 'plan' | 'createdAt' | 'apiKey', unknown>>(
  'NewAccount',
  'A new account with its first API key.',
  {
    id: ACCOUNT_ID,
    name: ACCOUNT_NAME,
    plan: { type: 'string', const: 'free', description: 'Every account begins with this plan.' },
    createdAt: OPENED_AT,
    apiKey: ISSUED_KEY,
  },
);
