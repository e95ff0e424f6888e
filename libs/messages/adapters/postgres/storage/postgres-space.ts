import { statfs } from 'node:fs/promises';
import type { Database } from '#platform/database/database.js';
import { Space } from '../../../application/storage/space-watch.js';

const MEBIBYTE = 1_048_576;

interface SpaceLimits {
  /** 0 for no limit. */
  readonly maxDatabaseMb: number;
  /** Where the database has its files, if that is on this machine. */
  readonly folder: string | null;
  readonly minFreeMb: number;
}

export class PostgresSpace extends Space {
  constructor(
    private readonly database: Database,
    private readonly limits: SpaceLimits,
  ) {
    super();
  }

  async left(): Promise<number> {
    const { maxDatabaseMb, folder, minFreeMb } = this.limits;
    let left = Infinity;
    if (folder !== null) {
      const { bavail, bsize } = await statfs(folder);
      left = bavail * bsize - minFreeMb * MEBIBYTE;
    }
    if (maxDatabaseMb > 0) {
      const text = 'SELECT pg_database_size(current_database())::float8 AS bytes';
      const [row] = await this.database.query<{ bytes: number }>(text);
      left = Math.min(left, maxDatabaseMb * MEBIBYTE - (row?.bytes ?? 0));
    }
    return left;
  }
}
