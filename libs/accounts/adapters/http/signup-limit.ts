import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { tap, type Observable } from 'rxjs';
import { DomainError } from '#kernel/domain-error.js';
import { leftMs } from '#kernel/rate-limit-window.js';
import { AddressBudget, rateLimitExceeded } from '#platform/http/access/address-budget.js';
import { SETTINGS } from '#platform/process/platform.module.js';
import type { AccountsSettings } from '../../settings.js';

const HOUR_SECONDS = 3_600;

/**
 * Whether anonymous clients may sign up, and how often from one address. A sign-up counts before its body is read, which
 * bounds the bodies of an address in memory. One that fails is given back.
 */
@Injectable()
export class SignupLimit implements NestInterceptor {
  private readonly open: boolean;
  private readonly budget: AddressBudget;

  constructor(@Inject(SETTINGS) { signup }: AccountsSettings) {
    this.open = signup.open;
    this.budget = new AddressBudget('signup', signup.perHour, HOUR_SECONDS);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (!this.open) throw new DomainError('signup_closed', 'Sign-up is disabled. Ask the operator for an account.');
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { passes, window } = this.budget.take(request.clientAddress);
    if (!passes) {
      request.rateLimit = [window];
      throw rateLimitExceeded('The sign-ups of your address', leftMs(window));
    }
    const giveBack = () => {
      this.budget.giveBack(request.clientAddress);
    };
    return next.handle().pipe(tap({ error: giveBack }));
  }
}
