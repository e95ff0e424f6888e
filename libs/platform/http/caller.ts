import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Who sent a request, once its API key is settled. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
  /** Grows whenever something about the account or its keys changes: what was known before no longer holds. */
  readonly epoch: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Missing for strangers and operators. */
    caller?: Caller | undefined;
    /** Whether the request carries the operators' key. */
    operator?: boolean;
    presentedKey?: string;
    /** When the caller was last known to be entitled, in milliseconds of `performance.now()`. */
    passedAt?: number;
  }
}

/** `Bearer` in any case, one space, the key, and nothing after it. */
const AUTHORIZATION = /^bearer ([!-~]+)$/i;

/** The key that a header presents; undefined where it has none, or is not of the form. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : AUTHORIZATION.exec(authorization)?.[1];
}

/** The caller of a route that is not public. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === undefined) throw new Error('A route that wants a caller must be behind the API-key guard.');
  return caller;
});
