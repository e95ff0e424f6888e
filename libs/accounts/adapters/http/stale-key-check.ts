import type { OnModuleInit } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { PROBLEM_TYPE, PROBLEMS, toProblem, UNAVAILABLE_RETRY_AFTER } from '#platform/http/problems.js';
import type { AuthenticateCaller } from '../../application/authenticate-caller.js';

/** Milliseconds after which the key of a successful request is verified again before the response. */
const FRESH_MS = 900;

/**
 * A key that was revoked, or whose account was suspended, a second ago gets no successful response, even when its request was admitted before and the
 * link to the database hangs. It gets 503: the outcome is unknown, and the request may have been carried out.
 */
export class StaleKeyCheck implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly authenticate: AuthenticateCaller,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    // With a callback: most responses need no check, and should not wait for a promise.
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const { verifiedAt, presentedKey } = request;
      if (verifiedAt === undefined || presentedKey === undefined || reply.statusCode >= 300 || isFresh(verifiedAt)) {
        done(null, payload);
        return;
      }
      void this.isValid(presentedKey).then((valid) => {
        done(null, valid ? payload : unknownOutcome(request, reply));
      });
    });
  }

  private async isValid(key: string): Promise<boolean> {
    const startedAt = performance.now();
    const caller = await this.authenticate.refresh(key).catch(() => null);
    return caller !== null && !caller.suspended && isFresh(startedAt);
  }
}

function isFresh(since: number): boolean {
  return performance.now() - since <= FRESH_MS;
}

function unknownOutcome(request: FastifyRequest, reply: FastifyReply): string {
  const error = new DomainError('unavailable', 'Could not verify the API key in time. Retry later.');
  const body = JSON.stringify(toProblem(error, request.id));
  void reply
    .code(PROBLEMS.unavailable.status)
    .removeHeader('location')
    .header('retry-after', UNAVAILABLE_RETRY_AFTER)
    .header('content-type', PROBLEM_TYPE)
    .header('content-length', Buffer.byteLength(body));
  return body;
}
