import { AdmissionCheck } from '#platform/http/access.js';
import type { AuthenticateCaller } from '../../application/authenticate-caller.js';

/** Looks keys up in the database, at which a cached one may have changed. */
export class KeyAdmissionCheck extends AdmissionCheck {
  constructor(private readonly authenticate: Pick<AuthenticateCaller, 'refresh'>) {
    super();
  }

  async admits(key: string, scope: string): Promise<boolean> {
    const caller = await this.authenticate.refresh(key);
    return caller !== null && !caller.suspended && caller.scopes.some((granted) => granted === scope);
  }
}
