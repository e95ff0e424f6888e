import { statfs } from 'node:fs/promises';
import type { Database } from '#platform/database/database.js';

const MEBIBYTE = 1_048_576;

interface SpaceLimits {
  /** 0 for no limit. */
  readonly maxDatabaseMb: number;
  /** Where the database has its files, if that is on this machine. */
  readonly folder: string | null;
  readonly minFreeMb: number;
}

/** The bytes that the database may still grow by; Infinity without a limit. */
export async function spaceLeft(
  database: Database,
  { maxDatabaseMb, folder, minFreeMb }: SpaceLimits,
): Promise<number> {
  let left = Infinity;
  if (folder !== null) {
    const { bavail, bsize } = await statfs(folder);
    left = bavail * bsize - minFreeMb * MEBIBYTE;
  }
  if (maxDatabaseMb > 0) {
    const text = 'SELECT pg_database_size(current_database())::float8 AS bytes';
    const [row] = await database.query<{ bytes: number }>(text);
    left = Math.min(left, maxDatabaseMb * MEBIBYTE - (row?.bytes ?? 0));
  }
  return left;
}
