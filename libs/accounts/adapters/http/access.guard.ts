import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { ACCESS, type Access } from '#platform/http/access/access.js';
import { unauthorized } from '../../application/authenticate-caller.js';
import { accountSuspended } from '../../domain/account.js';

/** Enforces the access of a route. A route without an access decorator is for any caller with an API key. */
export class AccessGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, targets) ?? 'caller';
    if (access === 'public') return true;
    const { caller, operator } = context.switchToHttp().getRequest<FastifyRequest>();
    if (access === 'operator') {
      if (operator !== undefined) return true;
      throw new DomainError('unauthorized', "Send the operators' key: Authorization: Bearer <ADMIN_API_KEY>.");
    }
    if (caller === undefined) throw unauthorized();
    if (caller.suspended) throw accountSuspended();
    if (access !== 'caller' && !caller.scopes.includes(access.scope)) {
      throw new DomainError('insufficient_scope', `Use an API key with the scope ${access.scope}.`);
    }
    return true;
  }
}
