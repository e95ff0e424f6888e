import { EntitySchema } from 'typeorm';
import type { SealedSecret } from '../../application/endpoints/secret-box.js';
import type { Endpoint } from '../../domain/endpoint.js';

// The table is created by a migration.

/** An endpoint with what only the store needs. */
export interface StoredEndpoint extends Endpoint {
  readonly secrets: readonly {
    readonly sealed: SealedSecret;
    /** In ISO 8601. */
    readonly expiresAt: string | null;
  }[];
  readonly headers: SealedSecret | null;
  readonly version: string;
}

export const EndpointSchema = new EntitySchema<StoredEndpoint>({
  ...{ name: 'Endpoint', schema: 'sluice', tableName: 'endpoints' },
  columns: {
    id: { type: 'text', primary: true },
    accountId: { type: 'text', name: 'account_id' },
    url: { type: 'text' },
    description: { type: 'text' },
    rateLimitPerSecond: { type: 'integer', name: 'rate_limit_per_second' },
    types: { type: 'text', array: true },
    headerNames: { type: 'text', name: 'header_names', array: true },
    enabled: { type: 'boolean' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    disabledAt: { type: 'timestamptz', name: 'disabled_at', nullable: true },
    disabledReason: { type: 'text', name: 'disabled_reason', nullable: true },
    failingSince: { type: 'timestamptz', name: 'failing_since', nullable: true },
    failingUntil: { type: 'timestamptz', name: 'failing_until', nullable: true },
    // Moved by a trigger.
    revision: { type: 'integer', insert: false, update: false },
    secrets: { type: 'jsonb', select: false },
    headers: { type: 'jsonb', nullable: true, select: false },
    // The transaction that changed the row last.
    version: { type: 'text', name: 'xmin', select: false, insert: false, update: false },
  },
});
