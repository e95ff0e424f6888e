import type { Target } from './endpoints.js';
import type { SecretBox } from './secret-box.js';

/** The secrets that sign requests to an endpoint now, the newest first. */
export function openSecrets(box: SecretBox, { endpoint, secrets }: Target, at: Date): Buffer[] {
  return secrets
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
    .map(({ sealed }) => box.open(sealed, endpoint.id));
}
