import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '#kernel/caller.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The API key that the request presents, valid or not. */
    presentedKey?: string | undefined;
    /** The caller of that key, from the cache; null for no valid key, undefined when it must be looked up in the store. */
    cachedCaller?: Caller | null | undefined;
    /** Missing for anonymous clients and operators. */
    caller?: Caller | undefined;
    /** The name of the operator whose key the request carries. */
    operator?: string | undefined;
    /** When the key was last verified, in milliseconds of `loopTime`. */
    verifiedAt?: number;
  }
}

/** `Bearer` in any case, one space, the key, and nothing after it. */
const AUTHORIZATION = /^bearer ([!-~]+)$/i;

/** The key in a header; undefined when there is none or the header is malformed. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : AUTHORIZATION.exec(authorization)?.[1];
}

/** The name of the operator, on a route for operators. */
export const CurrentOperator = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  const { operator } = context.switchToHttp().getRequest<FastifyRequest>();
  if (operator === undefined) throw new Error('A route with an operator must be for operators.');
  return operator;
});

/** The caller of a route that is not public. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === undefined) throw new Error('A route with a caller must be behind the API-key guard.');
  return caller;
});
