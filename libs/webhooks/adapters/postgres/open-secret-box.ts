import type { Database } from '#platform/database/database.js';
import { sharedValue } from '#platform/database/installation.js';
import { UsageError } from '#platform/process/usage-error.js';
import type { Endpoints } from '../../application/endpoints/endpoints.js';
import { SecretBox } from '../../application/endpoints/secret-box.js';
import type { WebhooksSettings } from '../../settings.js';

/**
 * A process without a key starts as long as there are no endpoints.
 * @throws UsageError when secrets of this database are encrypted under a key that this process does not have, or will be by
 * another process
 */
export async function openSecretBox(
  { secretsKeys }: WebhooksSettings,
  endpoints: Endpoints,
  database: Database,
): Promise<SecretBox> {
  const box = new SecretBox(secretsKeys);
  requireKeys(box, await endpoints.keyIds());
  const [own, ...others] = box.keyIds;
  if (own !== undefined) requireKeys(box, [await sharedValue(database, 'secrets_key', own, others)]);
  return box;
}

function requireKeys(box: SecretBox, ids: readonly string[]): void {
  const missing = ids.filter((id) => !box.has(id));
  if (missing.length === 0) return;
  throw new UsageError(
    `SECRETS_KEY lacks a key under which this installation encrypts the secrets of endpoints (${missing.join(', ')}). Add it. To change keys, see "Change SECRETS_KEY" in docs/webhooks.md.`,
  );
}
