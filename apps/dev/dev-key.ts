import { AccountsModule } from '#accounts/accounts.module.js';
import { AuthenticateCaller, SignUp } from '#accounts/index.js';
import { createLogger } from '#platform/logging.js';
import type { Settings } from '#platform/settings.js';
import { startTools } from '../context.js';
import type { DataDir } from './data-dir.js';

/** An API key for development: that of an earlier start, or the first one of a new account. */
export async function ensureDevKey(dataDir: DataDir, settings: Settings): Promise<string> {
  const tools = await startTools(settings, createLogger('silent', 'dev'), AccountsModule);
  try {
    const known = await dataDir.read('dev-key');
    if (known !== undefined && (await tools.get(AuthenticateCaller).execute(known)) !== null) return known;
    const { key } = await tools.get(SignUp).execute('Development');
    await dataDir.write('dev-key', key);
    return key;
  } finally {
    await tools.close();
  }
}
