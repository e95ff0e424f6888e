import type { Database } from '#platform/database/database.js';
import type { Availability } from '../../../application/delivering/availability.js';
import { ExpiredLeases } from '../../../application/delivering/expired-leases.js';
import { END_EXPIRED } from './lease.sql.js';

export class PostgresExpiredLeases extends ExpiredLeases {
  constructor(
    private readonly database: Database,
    private readonly policy: { readonly maxAttempts: number },
    private readonly availability: Pick<Availability, 'announce'>,
  ) {
    super();
  }

  async end(limit: number): Promise<number> {
    const values = [this.policy.maxAttempts, limit];
    const [row] = await this.database.query<{ count: number; available: string[] }>(END_EXPIRED, values);
    this.availability.announce(row?.available ?? []);
    return row?.count ?? 0;
  }
}
