import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { tap, type Observable } from 'rxjs';
import { atMost } from '#kernel/cache-size.js';
import { DomainError } from '#kernel/domain-error.js';
import { leftMs } from '#kernel/rate-limit-window.js';
import { AddressBudget, rateLimitExceeded } from '#platform/http/access/address-budget.js';
import { networkOf } from '#platform/http/access/client-address.js';
import { SETTINGS } from '#platform/process/platform.module.js';
import type { AccountsSettings } from '../../settings.js';

const HOUR_SECONDS = 3_600;
/** Beyond this the least recently used are dropped, so that memory stays bounded. */
const MAX_REPEATABLE = 10_000;

/**
 * Whether anonymous clients may sign up, and how often from one address. A sign-up counts before its body is read, which
 * bounds the bodies of an address in memory. One that fails, or that repeats an earlier one with its `Idempotency-Key`, is
 * given back. Once that key is known here, further repetitions pass even when the budget is used up.
 */
@Injectable()
export class SignupLimit implements NestInterceptor {
  private readonly open: boolean;
  private readonly budget: AddressBudget;
  /** Networks with the idempotency keys of their sign-ups. */
  private readonly repeatable = new LRUCache<string, true>(atMost(MAX_REPEATABLE));

  constructor(@Inject(SETTINGS) { signup }: AccountsSettings) {
    this.open = signup.open;
    this.budget = new AddressBudget('signup', signup.perHour, HOUR_SECONDS);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (!this.open) throw new DomainError('signup_closed', 'Sign-up is disabled. Ask the operator for an account.');
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const key = request.headers['idempotency-key'];
    const repetition = key === undefined ? null : `${networkOf(request.clientAddress)} ${String(key)}`;
    if (repetition !== null && this.repeatable.has(repetition)) return next.handle();
    const { passes, window } = this.budget.take(request.clientAddress);
    if (!passes) {
      request.rateLimit = [window];
      throw rateLimitExceeded('The sign-ups of your address are used up.', leftMs(window));
    }
    const giveBack = () => {
      this.budget.giveBack(request.clientAddress);
    };
    const succeed = () => {
      if (reply.hasHeader('idempotent-replayed')) giveBack();
      if (repetition !== null) this.repeatable.set(repetition, true);
    };
    return next.handle().pipe(tap({ next: succeed, error: giveBack }));
  }
}
