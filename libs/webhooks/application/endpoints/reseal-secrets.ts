import type { Endpoints } from './endpoints.js';
import { openHeaders, sealHeaders } from './sealed-headers.js';
import type { SecretBox } from './secret-box.js';

/** Encrypts the stored secrets and headers again that an earlier key has encrypted, so that this key can be removed. */
export class ResealSecrets {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly box: SecretBox,
  ) {}

  async execute(): Promise<void> {
    const [current = ''] = this.box.keyIds;
    for (const { id, accountId } of await this.endpoints.sealedUnderOtherKeys(current)) {
      await this.endpoints.updateSealed(accountId, id, ({ secrets, headers }) => ({
        secrets: secrets.map(({ sealed, expiresAt }) => ({
          ...{ sealed: this.box.seal(this.box.open(sealed, id), id), expiresAt },
        })),
        headers: sealHeaders(this.box, openHeaders(this.box, headers, id), id),
      }));
    }
  }
}
