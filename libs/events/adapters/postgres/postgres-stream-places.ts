import { randomUUID } from 'node:crypto';
import type { Database } from '#platform/database/database.js';
import { StreamPlaces, type StreamPlace } from '../../application/event-log.js';
import { MAX_STREAMS } from '../../application/event-streams.js';
import { LEAVE_PLACE, RENEW_PLACES, TAKE_PLACE } from './events.sql.js';

export class PostgresStreamPlaces extends StreamPlaces {
  constructor(private readonly database: Database) {
    super();
  }

  async take(accountId: string): Promise<StreamPlace | null> {
    const token = randomUUID();
    // Each time that it finds none, another stream may have taken the place that was free.
    for (let left = MAX_STREAMS; left > 0; left--) {
      const [row] = await this.database.query<{ place: number }>(TAKE_PLACE, [accountId, token]);
      if (row !== undefined) return { accountId, number: row.place, token };
    }
    return null;
  }

  async renew(places: readonly StreamPlace[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ token: string }>(RENEW_PLACES, [
      places.map(({ accountId }) => accountId),
      places.map(({ number }) => number),
      places.map(({ token }) => token),
    ]);
    return new Set(rows.map(({ token }) => token));
  }

  async leave({ accountId, number, token }: StreamPlace): Promise<void> {
    await this.database.query(LEAVE_PLACE, [accountId, number, token]);
  }
}
