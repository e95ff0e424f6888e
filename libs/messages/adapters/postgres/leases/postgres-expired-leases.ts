import type { Database } from '#platform/database/database.js';
import { ExpiredLeases } from '../../../application/delivering/expired-leases.js';
import { FAIL_EXPIRED } from './lease.sql.js';

export class PostgresExpiredLeases extends ExpiredLeases {
  constructor(
    private readonly database: Database,
    private readonly policy: { readonly maxAttempts: number },
  ) {
    super();
  }

  async fail(limit: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(FAIL_EXPIRED, [this.policy.maxAttempts, limit]);
    return row?.count ?? 0;
  }
}
