import { UsageError } from '#platform/process/usage-error.js';
import type { Endpoints } from '../../application/endpoints/endpoints.js';
import { SecretBox } from '../../application/endpoints/secret-box.js';
import type { WebhooksSettings } from '../../settings.js';

/** @throws UsageError when secrets of this database are encrypted under a key that this process does not have */
export async function openSecretBox({ secretsKeys }: WebhooksSettings, endpoints: Endpoints): Promise<SecretBox> {
  const box = new SecretBox(secretsKeys);
  const missing = (await endpoints.keyIds()).filter((id) => !box.keyIds.includes(id));
  if (missing.length === 0) return box;
  throw new UsageError(
    `SECRETS_KEY lacks a key with which endpoint secrets in this database are encrypted (${missing.join(', ')}). Add it. To change keys, see "Change SECRETS_KEY" in docs/webhooks.md.`,
  );
}
