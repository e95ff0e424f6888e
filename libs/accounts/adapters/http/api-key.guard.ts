import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { bearerToken } from '#platform/http/caller.js';
import type { Secret } from '#platform/http/secret.js';
import type {
  AuthenticateCaller,
  Authenticated,
  AuthenticationOutcome,
} from '../../application/authenticate-caller.js';

/**
 * Settles who is calling, before anything else of a request is looked at. It refuses nobody: what strangers may do is
 * counted next, and decided by the access guard.
 */
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticate: AuthenticateCaller,
    private readonly operatorsKey: Secret | null,
    private readonly settled: Authenticated,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    try {
      this.settled(await this.settle(request));
    } catch (error) {
      this.settled('unavailable');
      throw error;
    }
    return true;
  }

  private async settle(request: FastifyRequest): Promise<AuthenticationOutcome> {
    const presented = bearerToken(request.headers.authorization);
    if (presented === undefined) return request.headers.authorization === undefined ? 'missing' : 'invalid';
    const caller = await this.authenticate.execute(presented);
    if (caller !== null) {
      request.caller = caller;
      request.presentedKey = presented;
      return 'valid';
    }
    if (this.operatorsKey === null) return 'invalid';
    request.operator = this.operatorsKey.matches(presented);
    return request.operator ? 'operator' : 'invalid';
  }
}
