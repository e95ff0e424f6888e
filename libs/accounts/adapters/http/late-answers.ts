import type { OnModuleInit } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { PROBLEM_TYPE, PROBLEMS, toProblem, UNAVAILABLE_RETRY_AFTER } from '#platform/http/problems.js';
import type { AuthenticateCaller } from '../../application/authenticate-caller.js';

/** A success that was entitled longer ago than this many milliseconds is checked once more before it is told. */
const FRESH_MS = 900;

/**
 * Keeps a promise when the link to the database hangs: a key that was revoked a second ago gets no success, although
 * it was let pass before. It gets 503, which says that the outcome is unknown: what it asked for may have been done.
 */
export class LateAnswers implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly authenticate: AuthenticateCaller,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const { passedAt, presentedKey } = request;
      if (passedAt === undefined || presentedKey === undefined || reply.statusCode >= 300 || isFresh(passedAt)) {
        done(null, payload);
        return;
      }
      const asked = performance.now();
      this.authenticate.refresh(presentedKey).then(
        (caller) => {
          done(null, caller !== null && isFresh(asked) ? payload : unknownOutcome(request, reply));
        },
        () => {
          done(null, unknownOutcome(request, reply));
        },
      );
    });
  }
}

function isFresh(since: number): boolean {
  return performance.now() - since <= FRESH_MS;
}

function unknownOutcome(request: FastifyRequest, reply: FastifyReply): string {
  const error = new DomainError('unavailable', 'It took too long to tell whether your API key still holds. Repeat.');
  const body = JSON.stringify(toProblem(error, request.id));
  void reply
    .code(PROBLEMS.unavailable.status)
    .removeHeader('location')
    .header('retry-after', UNAVAILABLE_RETRY_AFTER)
    .header('content-type', PROBLEM_TYPE)
    .header('content-length', Buffer.byteLength(body));
  return body;
}
