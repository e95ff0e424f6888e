import type { Account } from '../../domain/account.js';
import type { ApiKey } from '../../domain/api-key.js';
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
