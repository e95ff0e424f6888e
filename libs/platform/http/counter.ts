import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Whoever has counted a request and can count what else it asks for. */
export interface Counter {
  countMore(request: FastifyRequest, count: number): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Missing for strangers and operators. */
    counter?: Counter;
  }
}

/**
 * Counts so many more requests of the caller, all or none; 0 is none.
 * @throws DomainError `batch_exceeds_limit` when they can never fit, with the request itself, into the caller's plan
 * @throws RetryLaterError `rate_limit_exceeded` or `api_key_banned`; only the request itself is counted then
 * @throws DomainError `unauthorized` when the key no longer holds, `unavailable` when nothing can be counted
 */
export type CountMore = (count: number) => Promise<void>;

export const CountMore = createParamDecorator((_data: unknown, context: ExecutionContext): CountMore => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { counter } = request;
  if (counter === undefined) throw new Error('A route that counts more must be behind the guard that counts.');
  return (count) => counter.countMore(request, count);
});
