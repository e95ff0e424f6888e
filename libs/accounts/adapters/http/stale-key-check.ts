import type { OnModuleInit } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { logUnavailable } from '#platform/http/problem.filter.js';
import { replaceResponse } from '#platform/http/response.js';
import type { Logger } from '#platform/observability/logging.js';
import { loopTime } from '#platform/process/loop-time.js';
import type { AuthenticateCaller } from '../../application/authenticate-caller.js';
import { accountSuspended } from '../../domain/account.js';

/** Milliseconds of `loopTime` after which the key of a successful request is verified again before the response. */
const FRESH_MS = 800;

const NOT_VERIFIED = 'Could not verify the API key in time. Retry later.';

/**
 * A key that was revoked a second ago, or whose account was suspended, gets no successful response, even when its request
 * was admitted before and the link to the database hangs. It gets 503: the outcome is unknown, and the request may have
 * been carried out.
 */
export class StaleKeyCheck implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly authenticate: AuthenticateCaller,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    // With a callback: most responses need no check, and should not wait for a promise.
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const key = reply.statusCode >= 300 ? undefined : staleKey(request);
      if (key === undefined) {
        done(null, payload);
        return;
      }
      void this.fault(key).then((error) => {
        if (error !== null) logUnavailable(this.logger, request, error);
        done(null, error === null ? payload : replaceResponse(request, reply, error));
      });
    });
  }

  /** Why a key can't be trusted; null for a valid key. */
  private async fault(key: string): Promise<DomainError | null> {
    const startedAt = loopTime();
    try {
      const refusal = await refusalNow(this.authenticate, key);
      if (refusal !== null) return new DomainError('unavailable', refusal.message);
      return isFresh(startedAt) ? null : new DomainError('unavailable', NOT_VERIFIED);
    } catch (cause) {
      return Object.assign(new DomainError('unavailable', NOT_VERIFIED), { cause });
    }
  }
}

/**
 * Why a key that was valid before would be refused now, by the database; null if it would not.
 * @throws DomainError `unavailable` when the database cannot be reached
 */
export async function refusalNow(
  authenticate: Pick<AuthenticateCaller, 'refresh'>,
  key: string,
): Promise<DomainError | null> {
  const caller = await authenticate.refresh(key);
  if (caller === null) {
    return new DomainError('unauthorized', 'The API key became invalid while the request was processed.');
  }
  return caller.suspended ? accountSuspended() : null;
}

/** The key of a request, if it must be verified again. */
export function staleKey({ verifiedAt, presentedKey }: FastifyRequest): string | undefined {
  return verifiedAt === undefined || isFresh(verifiedAt) ? undefined : presentedKey;
}

/** Whether a key that was verified then, in milliseconds of `loopTime`, need not be verified again. */
function isFresh(since: number): boolean {
  return loopTime() - since <= FRESH_MS;
}
