import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import type { Logger } from '../observability/logging.js';
import { asUnavailable, isContention, isMissing, isUnavailable } from '../database/errors.js';
import { PROBLEM_TYPE, problemHeaders, toProblem } from './problems.js';
import { traceparentOf } from './edge/traceparent.js';
import { traceIdOf } from '../observability/tracing/traceparent.js';

/** Turns errors into problem documents. An unexpected error is logged completely, and its response reveals nothing. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = this.asDomainError(thrown, request);
    if (error.code === 'unavailable') logUnavailable(this.logger, request, error);
    const problem = toProblem(error, request.id);
    void reply
      .status(problem.status)
      .headers(problemHeaders(error, request.headers.authorization))
      .header('content-type', PROBLEM_TYPE)
      .send(JSON.stringify(problem));
  }

  private asDomainError(thrown: unknown, request: FastifyRequest): DomainError {
    const error = asUnavailable(thrown, (cause) => isUnavailable(cause) || isContention(cause) || isMissing(cause));
    if (error instanceof DomainError) return error;
    if (error instanceof HttpException && error.getStatus() === 404) {
      return new DomainError('not_found', 'There is no resource at this path.');
    }
    this.logger.error({ ...aboutRequest(request), err: error }, 'unexpected error');
    return new DomainError(
      'internal_error',
      'An internal error occurred and was logged. Report the requestId if it persists.',
    );
  }
}

/** A response with 503 has a line with the reason; the logger bounds their number. */
export function logUnavailable(logger: Logger, request: FastifyRequest, error: DomainError): void {
  logger.warn({ ...aboutRequest(request), reason: error.message, err: error.cause }, 'unavailable');
}

function aboutRequest(request: FastifyRequest): { requestId: string; traceId: string | undefined } {
  return { requestId: request.id, traceId: traceIdOf(traceparentOf(request)) };
}
