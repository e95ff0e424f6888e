import { EntitySchema } from 'typeorm';
import { Account } from '../../domain/account.js';
import type { ApiKey, Rotation } from '../../domain/api-key.js';
import type { AgreedLimits } from '../../domain/plan.js';

// The tables are created by migrations.

const agreed = new EntitySchema<AgreedLimits>({
  name: 'AgreedLimits',
  columns: {
    perMinute: { type: 'integer', name: 'per_minute', nullable: true },
    perDay: { type: 'integer', name: 'per_day', nullable: true },
  },
});

/** The limits in force, which depend on the plan. */
const limits = (account: string) => `
  SELECT json_build_object('perMinute', per_minute, 'perDay', per_day)
  FROM sluice.account_plans plans WHERE plans.id = ${account}.id`;

/** An account with what only the store needs. */
export interface StoredAccount extends Account {
  readonly deleting: boolean;
}

export const AccountSchema = new EntitySchema<StoredAccount>({
  ...{ name: 'Account', target: Account, schema: 'sluice', tableName: 'accounts' },
  columns: {
    id: { type: 'text', primary: true },
    name: { type: 'text' },
    plan: { type: 'text' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    suspended: { type: 'boolean' },
    delivery: { type: 'text' },
    paused: { type: 'boolean' },
    externalId: { type: 'text', name: 'external_id', nullable: true },
    deleting: { type: 'boolean', select: false },
    limits: { type: 'json', virtualProperty: true, query: limits },
  },
  embeddeds: { agreed: { schema: agreed, prefix: false } },
});

/** A key with what only the store needs. */
export interface StoredApiKey extends ApiKey, Rotation {
  readonly hash: Buffer;
  readonly revokedAt: Date | null;
}

export const ApiKeySchema = new EntitySchema<StoredApiKey>({
  ...{ name: 'ApiKey', schema: 'sluice', tableName: 'api_keys' },
  columns: {
    id: { type: 'text', primary: true },
    accountId: { type: 'text', name: 'account_id' },
    name: { type: 'text' },
    hint: { type: 'text', nullable: true },
    hash: { type: 'bytea', select: false },
    scopes: { type: 'text', array: true },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    expiresAt: { type: 'timestamptz', name: 'expires_at', nullable: true },
    revokedAt: { type: 'timestamptz', name: 'revoked_at', nullable: true, select: false },
    rotatedAt: { type: 'timestamptz', name: 'rotated_at', nullable: true, select: false },
    createdToExpireAt: { type: 'timestamptz', name: 'created_to_expire_at', nullable: true, select: false },
    lastUsedAt: { type: 'timestamptz', name: 'last_used_at', nullable: true },
  },
});
