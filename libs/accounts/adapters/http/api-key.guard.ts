import { createHash, timingSafeEqual } from 'node:crypto';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AuthenticateCaller } from '../../application/authenticate-caller.js';

/** `Bearer` in any case, one space, the key, and nothing after it. */
const AUTHORIZATION = /^bearer ([!-~]+)$/i;

/**
 * Settles who is calling, before anything else of a request is looked at. It refuses nobody: what strangers may do is
 * counted next, and decided by the access guard.
 */
export class ApiKeyGuard implements CanActivate {
  private readonly operatorsKey: Buffer | null;

  constructor(
    private readonly authenticate: AuthenticateCaller,
    operatorsKey: string | null,
  ) {
    this.operatorsKey = operatorsKey === null ? null : digest(operatorsKey);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const presented = AUTHORIZATION.exec(request.headers.authorization ?? '')?.[1];
    if (presented === undefined) return true;
    const caller = await this.authenticate.execute(presented);
    if (caller !== null) {
      request.caller = caller;
      request.presentedKey = presented;
    } else if (this.operatorsKey !== null) {
      request.operator = timingSafeEqual(digest(presented), this.operatorsKey);
    }
    return true;
  }
}

// Of equal length whatever is presented, so that the time of the comparison tells nothing.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
