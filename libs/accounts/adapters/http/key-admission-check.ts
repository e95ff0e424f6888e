import type { FastifyRequest } from 'fastify';
import { AdmissionCheck } from '#platform/http/access/access.js';
import { loopTime } from '#platform/process/loop-time.js';
import type { AuthenticateCaller } from '../../application/authenticate-caller.js';
import { refusalNow, staleKey } from './stale-key-check.js';

/** Looks keys up in the database, since a cached one may be outdated. */
export class KeyAdmissionCheck extends AdmissionCheck {
  constructor(private readonly authenticate: Pick<AuthenticateCaller, 'refresh'>) {
    super();
  }

  async admits(key: string, scope: string): Promise<boolean> {
    const caller = await this.authenticate.refresh(key);
    return caller !== null && !caller.suspended && caller.scopes.some((granted) => granted === scope);
  }

  async assertKeyValid(request: FastifyRequest): Promise<void> {
    const key = staleKey(request);
    if (key === undefined) return;
    const startedAt = loopTime();
    const refusal = await refusalNow(this.authenticate, key);
    if (refusal !== null) throw refusal;
    request.verifiedAt = startedAt;
  }
}
