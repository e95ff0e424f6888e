import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type {
  AuthenticateCaller,
  Authenticated,
  AuthenticationOutcome,
} from '../../application/authenticate-caller.js';

/**
 * Verifies the API key, starting from the result of the request hook. It refuses no request: the throttler guard counts
 * requests without a valid key, and the access guard refuses them.
 */
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticate: AuthenticateCaller,
    private readonly authenticated: Authenticated,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    try {
      this.authenticated(await this.verify(request));
    } catch (error) {
      this.authenticated('unavailable');
      throw error;
    }
    return true;
  }

  private async verify(request: FastifyRequest): Promise<AuthenticationOutcome> {
    const { presentedKey, cachedCaller, operator, headers } = request;
    if (operator !== undefined) return 'operator';
    if (presentedKey === undefined) return headers.authorization === undefined ? 'missing' : 'invalid';
    const caller = cachedCaller === undefined ? await this.authenticate.execute(presentedKey) : cachedCaller;
    if (caller === null) return 'invalid';
    request.caller = caller;
    if (cachedCaller === undefined) request.server.connectionRoom.recognize(request.raw.socket, caller.accountId);
    return 'valid';
  }
}
