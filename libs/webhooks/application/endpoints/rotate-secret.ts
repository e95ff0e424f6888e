import type { Clock } from '#kernel/clock.js';
import { endpointNotFound } from '../../domain/endpoint.js';
import type { Endpoints, Sealed, StoredSecret } from './endpoints.js';
import type { SecretBox } from './secret-box.js';
import { formatSecret, newSecret } from '../sending/signatures.js';

/** Secrets of an endpoint at the same time: each adds a signature to every request. */
const MAX_SECRETS = 5;

export class RotateSecret {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {}

  /**
   * @param graceSeconds how long the old secret continues to sign as well
   * @returns the new secret
   * @throws DomainError `endpoint_not_found`
   */
  async execute(accountId: string, id: string, graceSeconds: number): Promise<string> {
    const at = this.clock.now();
    const endsAt = new Date(at.getTime() + graceSeconds * 1_000);
    const secret = newSecret();
    const current: StoredSecret = { sealed: this.box.seal(secret, id), expiresAt: null };
    const replace = ({ secrets, headers }: Sealed): Sealed => {
      const old = secrets.map(({ sealed, expiresAt }) => ({ sealed, expiresAt: earlier(expiresAt, endsAt) }));
      return { secrets: [current, ...old.filter(({ expiresAt }) => expiresAt > at)].slice(0, MAX_SECRETS), headers };
    };
    if (!(await this.endpoints.updateSealed(accountId, id, replace))) throw endpointNotFound();
    return formatSecret(secret);
  }
}

function earlier(expiresAt: Date | null, endsAt: Date): Date {
  return expiresAt !== null && expiresAt < endsAt ? expiresAt : endsAt;
}
