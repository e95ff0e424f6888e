import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { rateLimitExceeded, type AddressBudget } from '#platform/http/address-budget.js';

/** Whether anonymous clients may sign up, and how often from one address. */
export class SignupLimit {
  constructor(
    private readonly open: boolean,
    private readonly budget: AddressBudget,
  ) {}

  /** @throws DomainError when the sign-up cannot succeed, whatever its body */
  check(request: FastifyRequest): void {
    if (!this.open) throw new DomainError('signup_closed', 'Sign-up is disabled. Ask the operator for an account.');
    if (this.budget.peek(request.ip).remaining === 0) this.refuse(request);
  }

  /**
   * Runs a sign-up, which counts unless it fails.
   * @throws RetryLaterError `rate_limit_exceeded`
   */
  async count<T>(request: FastifyRequest, signUp: () => Promise<T>): Promise<T> {
    if (!this.budget.take(request.ip).passes) this.refuse(request);
    try {
      return await signUp();
    } catch (error) {
      this.budget.giveBack(request.ip);
      throw error;
    }
  }

  private refuse(request: FastifyRequest): never {
    const window = this.budget.peek(request.ip);
    request.rateLimit = [window];
    throw rateLimitExceeded('The sign-ups of your address', window.resetsInMs);
  }
}

/** Refuses a sign-up before its body is read. */
@Injectable()
export class SignupGuard implements CanActivate {
  constructor(private readonly limit: SignupLimit) {}

  canActivate(context: ExecutionContext): boolean {
    this.limit.check(context.switchToHttp().getRequest<FastifyRequest>());
    return true;
  }
}
