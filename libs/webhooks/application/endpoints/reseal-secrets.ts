import type { Endpoints } from './endpoints.js';
import type { SecretBox } from './secret-box.js';

/** Encrypts the stored secrets again that an earlier key has encrypted, so that this key can be removed. */
export class ResealSecrets {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly box: SecretBox,
  ) {}

  async execute(): Promise<void> {
    const [current = ''] = this.box.keyIds;
    for (const { id, accountId } of await this.endpoints.sealedUnderOtherKeys(current)) {
      await this.endpoints.updateSecrets(accountId, id, (secrets) =>
        secrets.map(({ sealed, expiresAt }) => ({ sealed: this.box.seal(this.box.open(sealed, id), id), expiresAt })),
      );
    }
  }
}
