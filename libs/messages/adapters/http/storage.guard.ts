import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Messages } from '../../application/messages.js';
import { StorageCap } from '../../application/storage/storage-cap.js';

/**
 * Refuses requests that would store something for an account at its storage limit, or while the store has too little
 * space, before the body is read. A request whose Idempotency-Key was used stores nothing: its body decides whether it
 * gets the first response again.
 */
@Injectable()
export class StorageGuard implements CanActivate {
  constructor(
    private readonly storage: StorageCap,
    private readonly messages: Messages,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { caller, headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (caller === undefined || this.storage.hasRoom(caller.accountId)) return true;
    return this.admit(caller.accountId, headers['idempotency-key']);
  }

  private async admit(accountId: string, key: string | string[] | undefined): Promise<boolean> {
    if (typeof key !== 'string' || !(await this.messages.hasKey(accountId, key))) this.storage.requireRoom(accountId);
    return true;
  }
}
