import { pageModel } from '#platform/http/body/paging.js';
import { DELIVERY_MODE_NAMES } from '#kernel/delivery-mode.js';
import { enumModel, idOf, nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import { EXTERNAL_ID, MAX_NAME_LENGTH, type Account } from '../../domain/account.js';
import { SCOPES, type ApiKey, type Scope } from '../../domain/api-key.js';
import type { Limits } from '#kernel/limits.js';
import { MAX_LIMIT } from '../../domain/request-limits.js';
import type { Deletion } from '../../application/deletions.js';
import { PLAN_NAME } from '../../domain/plan.js';
import type { IssuedKey } from '../../application/create-api-key.js';
import type { SignedUp } from '../../application/sign-up.js';

export function accountView({ id, name, plan, limits, delivery, paused, createdAt }: Account) {
  return { id, name, plan, limits, delivery, paused, createdAt };
}

export function operatorsAccountView(account: Account) {
  return { ...accountView(account), externalId: account.externalId, suspended: account.suspended };
}

/** Besides a new account, the only response that contains the key itself. */
export function issuedKeyView({ apiKey, key }: IssuedKey) {
  const { id, name, scopes, createdAt, expiresAt } = apiKey;
  return { id, name, key, scopes, createdAt, expiresAt };
}

export function apiKeyView({ id, name, hint, scopes, createdAt, expiresAt, lastUsedAt }: ApiKey) {
  return { id, name, hint, scopes, createdAt, expiresAt, lastUsedAt };
}

export function newAccountView({ account, ...issued }: SignedUp) {
  const { id, name, plan, createdAt } = account;
  return { id, name, plan, createdAt, apiKey: issuedKeyView(issued) };
}

/** The same, to an operator. */
export function createdAccountView(signedUp: SignedUp) {
  const { limits, externalId } = signedUp.account;
  return { ...newAccountView(signedUp), limits, externalId };
}

export function deletionView({ accountId, requestedAt }: Deletion) {
  return { id: accountId, requestedAt };
}

export const ACCOUNT_ID = idOf('acct', 'The id of the account.');
export const KEY_ID = idOf('key', 'The id of the API key. It is not secret.');

/** The domain's rules for names. */
export const NAME_RULES = { minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: '^[^\\u0000]*\\S[^\\u0000]*$' };

const ACCOUNT_NAME = {
  type: 'string',
  description: 'The name given at sign-up, or changed since.',
  examples: ['Acme'],
};
const OWN_ID = nullable({
  type: 'string',
  pattern: EXTERNAL_ID.source,
  description: "What the operator's own systems call the account. Null if nothing.",
  examples: ['customer-4711'],
});
const OPENED_AT = time('When the account was created.');
const COUNT = { type: 'integer', minimum: 1, maximum: MAX_LIMIT };

export const LIMITS = viewModel<Limits>('Limits', 'Request limits, shared by all keys of an account.', {
  perMinute: { ...COUNT, examples: [60] },
  perDay: { ...COUNT, examples: [1_000] },
});

export const PLAN = {
  type: 'string',
  pattern: PLAN_NAME.source,
  description: 'The name of the plan of the account, which determines its limits.',
  examples: ['free'],
};

export const DELIVERY_MODE = enumModel(
  'DeliveryMode',
  'How messages are delivered: `handler`: by the workers of the operator. `webhooks`: to the endpoints of the account. ' +
    '`pull`: to clients that lease them. Each message keeps the mode that was in force when it was accepted.',
  DELIVERY_MODE_NAMES,
);

export const SCOPE = enumModel('Scope', 'A group of operations that an API key may call.', SCOPES);

const ACCOUNT_FIELDS = {
  id: ACCOUNT_ID,
  name: ACCOUNT_NAME,
  plan: PLAN,
  limits: LIMITS,
  delivery: DELIVERY_MODE,
  paused: {
    type: 'boolean',
    description: 'Whether messages are accepted, but not delivered.',
    examples: [false],
  },
  createdAt: OPENED_AT,
};

export const ACCOUNT = viewModel<ReturnType<typeof accountView>>('Account', 'An account.', ACCOUNT_FIELDS);

export const OPERATORS_ACCOUNT = viewModel<ReturnType<typeof operatorsAccountView>>(
  'OperatorsAccount',
  'An account, as operators see it.',
  {
    ...ACCOUNT_FIELDS,
    externalId: OWN_ID,
    suspended: {
      type: 'boolean',
      description: 'Whether the keys of the account are refused and its queued messages wait.',
      examples: [false],
    },
  },
);

const KEY_FIELDS = {
  id: KEY_ID,
  name: { type: 'string', description: 'The purpose of the key.', examples: ['first key'] },
  scopes: {
    type: 'array',
    uniqueItems: true,
    items: SCOPE,
    description: 'The operations that the key may call.',
    examples: [SCOPES],
  },
  createdAt: time('When the key was created.'),
  expiresAt: nullable(time('When the key expires. Null if never.', '2027-01-31T12:00:00.000Z')),
};

export const ISSUED_KEY = viewModel<ReturnType<typeof issuedKeyView>>(
  'IssuedKey',
  'A new API key with its secret, which is shown only once.',
  {
    ...KEY_FIELDS,
    key: {
      type: 'string',
      pattern: '^slc_',
      description: 'The secret key. It cannot be retrieved again.',
      examples: ['slc_…'],
    },
  },
);

export interface PortalLinkView {
  readonly id: string;
  readonly url: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

export const PORTAL_LINK = viewModel<PortalLinkView>('PortalLink', 'A link that opens the portal once.', {
  id: { ...KEY_ID, description: 'The id of the API key that the link is exchanged for.' },
  url: {
    type: 'string',
    pattern: '#link=slp_',
    description: 'Where to send the visitor. Whoever has it can open it, so keep it out of logs.',
    examples: ['https://sluice.example.com/#link=slp_…'],
  },
  scopes: { ...KEY_FIELDS.scopes, description: 'What the link allows.' },
  expiresAt: time('When the link expires, and the visitor is signed out.'),
});

export const API_KEY = viewModel<ReturnType<typeof apiKeyView>>('ApiKey', 'An API key, without its secret.', {
  ...KEY_FIELDS,
  hint: nullable({
    type: 'string',
    description: 'How the key begins and ends, to recognise it. Null for a key from before hints were stored.',
    examples: ['slc_7k2m…x9qa'],
  }),
  lastUsedAt: nullable(time('When the key was last used, to the minute. Null if never.', '2026-11-21T09:30:00.000Z')),
});

export const API_KEY_PAGE = pageModel(API_KEY);

export const NEW_ACCOUNT = viewModel<ReturnType<typeof newAccountView>>(
  'NewAccount',
  'A new account with its first API key.',
  {
    id: ACCOUNT_ID,
    name: ACCOUNT_NAME,
    plan: PLAN,
    createdAt: OPENED_AT,
    apiKey: ISSUED_KEY,
  },
);

export const CREATED_ACCOUNT = viewModel<ReturnType<typeof createdAccountView>>(
  'CreatedAccount',
  'A new account with its first API key, as the operator who created it sees it.',
  {
    id: ACCOUNT_ID,
    name: ACCOUNT_NAME,
    plan: PLAN,
    limits: LIMITS,
    externalId: OWN_ID,
    createdAt: OPENED_AT,
    apiKey: ISSUED_KEY,
  },
);

export const DELETION = viewModel<ReturnType<typeof deletionView>>('AccountDeletion', 'The deletion of an account.', {
  id: ACCOUNT_ID,
  requestedAt: time('When the deletion was first requested.'),
});
