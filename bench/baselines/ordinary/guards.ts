import { createHash } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import type { Repository } from 'typeorm';
import type { ApiKey } from './entities.js';

export interface Authenticated extends FastifyRequest {
  accountId: string;
}

/** Queries the key by its hash for each request. */
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Authenticated>();
    const [scheme, key] = request.headers.authorization?.split(' ') ?? [];
    if (scheme !== 'Bearer' || key === undefined) throw new UnauthorizedException();
    const found = await this.keys.findOneBy({ hash: hashOf(key) });
    if (found === null) throw new UnauthorizedException();
    request.accountId = found.accountId;
    return true;
  }
}

export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Counts by account instead of by address, as the documentation of the package shows. */
@Injectable()
export class AccountThrottlerGuard extends ThrottlerGuard {
  protected override getTracker(request: Record<string, unknown>): Promise<string> {
    return Promise.resolve(String(request.accountId));
  }
}
