import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { parseTraceparent } from '../tracing/traceparent.js';

/** The trace that a request belongs to; null when it is in none. */
export function traceparentOf({ headers }: FastifyRequest): string | null {
  return parseTraceparent(headers.traceparent);
}

export const Traceparent = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  traceparentOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
