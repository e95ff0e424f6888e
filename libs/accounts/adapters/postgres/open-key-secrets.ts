import type { Database } from '#platform/database/database.js';
import { sharedValue } from '#platform/database/installation.js';
import { UsageError } from '#platform/process/usage-error.js';
import { KeySecrets } from '../../application/key-secrets.js';
import type { AccountsSettings } from '../../settings.js';

/** @throws UsageError when the keys of this database were issued under another pepper */
export async function openKeySecrets(
  { apiKeyPepper, apiKeyPepperPrevious }: AccountsSettings,
  database: Database,
): Promise<KeySecrets> {
  const secrets = new KeySecrets(apiKeyPepper, apiKeyPepperPrevious);
  const [own = '', ...previous] = secrets.fingerprints;
  if ((await sharedValue(database, 'api_key_pepper', own, previous)) === own) return secrets;
  throw new UsageError(
    'API_KEY_PEPPER does not match this database: its API keys were issued with another pepper. Set that one. To change it, see "Change the pepper" in docs/deploy.md.',
  );
}
