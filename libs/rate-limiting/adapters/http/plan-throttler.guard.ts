import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import type { AuthenticateCaller } from '#accounts/index.js';
import { DomainError, RetryLaterError } from '#kernel/domain-error.js';
import { rateLimitExceeded, type AddressBudget } from '#platform/http/address-budget.js';
import type { Caller } from '#platform/http/caller.js';
import type { Counter } from '#platform/http/counter.js';
import { UNAVAILABLE_RETRY_AFTER } from '#platform/http/problems.js';
import { exhausted, seconds } from '#platform/http/rate-limit-headers.js';
import type { Decision } from '../../decisions.js';
import type { PlanThrottlerStorage, RefusingVerdict, Verdict } from '../../plan-throttler-storage.js';

/** The budgets of those who have no account. */
export interface Budgets {
  readonly strangers: AddressBudget;
  readonly operators: AddressBudget;
}

/** Operators share one window, wherever they are. */
const OPERATORS = 'operators';

/** A key that changes with every look at it can't be told from a store that is out of order. */
const MAX_LOOKS = 5;

/**
 * Holds each caller to their plan, and whoever is none to the budget of their address.
 *
 * It is a ThrottlerGuard by place and purpose. The package's own way of counting is replaced: it counts one window
 * after the other, by limits that are known beforehand, and tells of them in headers of its own names and units.
 */
export class PlanThrottlerGuard extends ThrottlerGuard implements Counter {
  constructor(
    private readonly storage: PlanThrottlerStorage,
    private readonly authenticate: AuthenticateCaller,
    private readonly budgets: Budgets,
    private readonly decided: (decision: Decision) => void,
    reflector: Reflector,
  ) {
    super([], { increment: () => Promise.reject(new Error('PlanThrottlerStorage counts.')) }, reflector);
  }

  /** The base class would prepare its list of throttlers, of which there are none. */
  override async onModuleInit(): Promise<void> {
    await Promise.resolve();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.operator === true) return this.count(request, this.budgets.operators, OPERATORS);
    request.counter = this;
    return (await this.admit(request, 1)) || this.count(request, this.budgets.strangers, request.ip);
  }

  async countMore(request: FastifyRequest, more: number): Promise<void> {
    const limit = Math.min(...(request.rateLimit ?? []).map((window) => window.limit));
    if (more >= limit) {
      throw new DomainError('batch_exceeds_limit', `Your plan admits ${limit} messages at once. Send smaller batches.`);
    }
    if (more === 0 || (await this.admit(request, more))) return;
    this.count(request, this.budgets.strangers, request.ip);
    throw new DomainError('unauthorized', 'The API key no longer holds.');
  }

  /** @returns false when the key turns out to be nobody's any more: nothing was counted then */
  private async admit(request: FastifyRequest, count: number): Promise<boolean> {
    for (let looks = 0; request.caller !== undefined; looks++) {
      if (looks === MAX_LOOKS) throw new DomainError('unavailable', 'The API key could not be settled. Repeat.');
      request.passedAt = performance.now();
      const verdict = await this.hit(request, request.caller, count);
      if (verdict.kind !== 'stale') {
        this.decided(verdict.kind);
        return settle(request, verdict);
      }
      request.caller = (await this.authenticate.refresh(request.presentedKey ?? '')) ?? undefined;
    }
    return false;
  }

  private async hit(request: FastifyRequest, { accountId, keyId, epoch }: Caller, count: number): Promise<Verdict> {
    try {
      return await this.storage.hit({ accountId, keyId, epoch, count });
    } catch (error) {
      this.decided('unavailable');
      const known = this.storage.lastKnownWindows(accountId) ?? [this.budgets.strangers.peek(request.ip)];
      request.rateLimit = exhausted(known, UNAVAILABLE_RETRY_AFTER);
      throw error;
    }
  }

  private count(request: FastifyRequest, budget: AddressBudget, address: string): boolean {
    const { passes, window } = budget.take(address);
    const isOperator = address === OPERATORS;
    request.rateLimit = [window];
    this.decided(`${isOperator ? 'operator' : 'stranger'}_${passes ? 'admitted' : 'refused'}`);
    if (passes) return true;
    throw rateLimitExceeded(`The requests of ${isOperator ? 'operators' : 'your address'}`, window.resetsInMs);
  }
}

function settle(request: FastifyRequest, verdict: Exclude<Verdict, { kind: 'stale' }>): boolean {
  request.rateLimit = verdict.windows;
  if (verdict.kind === 'admitted') return true;
  throw refusedBy(verdict);
}

/** What a caller is told whose plan is used up, or whose key is banned. */
export function refusedBy({ kind, retryInMs }: RefusingVerdict): RetryLaterError {
  if (kind === 'refused') return rateLimitExceeded('The requests of your plan', retryInMs);
  const retryAfter = seconds(retryInMs);
  return new RetryLaterError(
    'api_key_banned',
    `This key went on after its limit was exceeded. Stop, wait ${retryAfter} s, and honour Retry-After.`,
    retryAfter,
  );
}
