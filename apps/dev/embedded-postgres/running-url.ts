import { readPassword } from './cluster.js';
import { findPostmaster } from './postmaster.js';

/** The URL of the server that another process runs on this data directory; null when there is none. */
export async function runningUrl(dataDir: string, database: string): Promise<string | null> {
  const postmaster = await findPostmaster(dataDir);
  if (postmaster === undefined || postmaster.port === 0) return null;
  return `postgres://sluice:${await readPassword(dataDir)}@127.0.0.1:${postmaster.port}/${database}`;
}
