import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { StorageCap } from '../../application/storage-cap.js';

/** Refuses requests that would store something for an account at its storage limit, before the body is read. */
@Injectable()
export class StorageGuard implements CanActivate {
  constructor(private readonly cap: StorageCap) {}

  canActivate(context: ExecutionContext): boolean {
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (caller !== undefined) this.cap.admit(caller.accountId);
    return true;
  }
}
