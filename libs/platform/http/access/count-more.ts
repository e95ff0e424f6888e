import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Counts the further requests for which one request stands. */
export interface Counter {
  countMore(request: FastifyRequest, count: number): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Missing for operators. */
    counter?: Counter;
  }
}

/**
 * Counts further requests of the caller, all or none.
 * @throws DomainError `batch_exceeds_limit` when they and the request itself can never fit into the caller's plan
 * @throws RetryLaterError `rate_limit_exceeded` or `api_key_banned`; only the request itself is counted then
 * @throws DomainError `unauthorized` when the key is no longer valid, `account_suspended`, or `unavailable` when nothing can
 * be counted
 */
export type CountMore = (count: number) => Promise<void>;

export const CountMore = createParamDecorator((_data: unknown, context: ExecutionContext): CountMore => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { counter } = request;
  if (counter === undefined) throw new Error('A route that counts more must be behind the throttler guard.');
  return (count) => counter.countMore(request, count);
});
