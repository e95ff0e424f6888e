import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { rateLimitExceeded, type AddressBudget } from '#platform/http/address-budget.js';

/** Whether strangers may open accounts, and how many from one address. */
export class SignupPolicy {
  constructor(
    private readonly open: boolean,
    private readonly budget: AddressBudget,
  ) {}

  /** @throws DomainError when there is no use in reading the request's body */
  check(request: FastifyRequest): void {
    if (!this.open) throw new DomainError('signup_closed', 'Ask the operator of this service for an account.');
    if (this.budget.peek(request.ip).remaining === 0) this.refuse(request);
  }

  /**
   * Does the work of a sign-up, which counts unless it fails.
   * @throws RetryLaterError `rate_limit_exceeded` when the address has had its share
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

/** Holds sign-ups to the policy at the door. */
@Injectable()
export class SignupDoor implements CanActivate {
  constructor(private readonly policy: SignupPolicy) {}

  canActivate(context: ExecutionContext): boolean {
    this.policy.check(context.switchToHttp().getRequest<FastifyRequest>());
    return true;
  }
}
