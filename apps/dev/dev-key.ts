import { hash } from 'node:crypto';
import { Client } from 'pg';
import { AccountsModule } from '#accounts/accounts.module.js';
import { AuthenticateCaller, SignUp } from '#accounts/index.js';
import { createLogger } from '#platform/observability/logging.js';
import { startTools } from '../context.js';
import type { DataDir } from './data-dir.js';
import type { Settings } from '../settings.js';

/** The file with the key of the embedded database. */
const EMBEDDED = 'dev-key';

const NAME = 'Development';
/** Who tries one example after another should not wait for a limit. Operators may have deleted the plan. */
const AGREED = { plan: 'enterprise', limits: { perMinute: 100_000, perDay: 10_000_000 } };

export interface DevKey {
  readonly key: string;
  readonly file: string;
}

/**
 * An API key for development: the key of an earlier start with the same database, or the first key of a new account.
 * @param databaseUrl undefined for the embedded database
 */
export async function ensureDevKey(
  dataDir: DataDir,
  databaseUrl: string | undefined,
  settings: Settings,
): Promise<DevKey> {
  const own = databaseUrl === undefined ? EMBEDDED : `${EMBEDDED}-${idOf(databaseUrl)}`;
  const tools = await startTools(settings, createLogger('silent', 'dev'), AccountsModule);
  try {
    // The database may be a restored dump of the embedded one.
    for (const name of [own, EMBEDDED]) {
      const key = await dataDir.read(name);
      const isValid = key !== undefined && (await tools.get(AuthenticateCaller).execute(key)) !== null;
      if (isValid) return { key, file: dataDir.file(name) };
    }
    const signUp = tools.get(SignUp);
    const { key } = await signUp.execute(NAME, AGREED).catch(() => signUp.execute(NAME));
    await dataDir.replace(own, key);
    return { key, file: dataDir.file(own) };
  } finally {
    await tools.close();
  }
}

/** The same for each user and password. */
function idOf(databaseUrl: string): string {
  const { host, port, database } = new Client(databaseUrl);
  return hash('sha256', `${host}:${port}/${database ?? ''}`).slice(0, 8);
}
