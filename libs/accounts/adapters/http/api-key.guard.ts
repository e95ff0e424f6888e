import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { PUBLIC_ROUTE } from '#platform/http/public.decorator.js';
import { unauthorized, type AuthenticateCaller } from '../../application/authenticate-caller.js';

/** `Bearer` in any case, one space, the key, and nothing after it. */
const AUTHORIZATION = /^bearer ([!-~]+)$/i;

/** Settles who is calling before anything else of a request is looked at. */
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authenticate: AuthenticateCaller,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC_ROUTE, targets) === true) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const presented = AUTHORIZATION.exec(request.headers.authorization ?? '')?.[1];
    if (presented === undefined) throw unauthorized();
    request.caller = await this.authenticate.execute(presented);
    return true;
  }
}
