import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AdmitSending } from '../../application/storage/admit-sending.js';

/** Asks, as sending does later, before the body is read, so that none is buffered for nothing. */
@Injectable()
export class EarlyStorageCheck implements CanActivate {
  constructor(private readonly admitSending: AdmitSending) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { caller, headers } = context.switchToHttp().getRequest<FastifyRequest>();
    const key = headers['idempotency-key'];
    const admitted = caller && this.admitSending.execute(caller.accountId, typeof key === 'string' ? key : null);
    return admitted === undefined ? true : admitted.then(() => true);
  }
}
