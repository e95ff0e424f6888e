import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Messages } from '../../application/messages.js';
import { SpaceWatch } from '../../application/space-watch.js';
import { StorageCap } from '../../application/storage-cap.js';

/**
 * Refuses requests that would store something for an account at its storage limit, or while the store has too little
 * space, before the body is read. A request whose Idempotency-Key was used stores nothing: its body decides whether it
 * gets the first response again.
 */
@Injectable()
export class StorageGuard implements CanActivate {
  constructor(
    private readonly cap: StorageCap,
    private readonly space: SpaceWatch,
    private readonly messages: Messages,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { caller, headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (caller === undefined || !(this.space.isFull || this.cap.isFull(caller.accountId))) return true;
    return this.admit(caller.accountId, headers['idempotency-key']);
  }

  private async admit(accountId: string, key: string | string[] | undefined): Promise<boolean> {
    if (typeof key === 'string' && (await this.messages.hasKey(accountId, key))) return true;
    throw this.cap.isFull(accountId) ? this.cap.refusal(accountId) : this.space.refusal();
  }
}
