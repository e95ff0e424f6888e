import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerModuleOptions, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { accountSuspended } from '#accounts/index.js';
import { DomainError, RetryLaterError } from '#kernel/domain-error.js';
import { rateLimitExceeded, type AddressBudget } from '#platform/http/access/address-budget.js';
import type { Caller } from '#kernel/caller.js';
import type { Counter } from '#platform/http/access/count-more.js';
import { leftMs, seconds } from '#kernel/rate-limit-window.js';
import { exhausted } from '#platform/http/access/rate-limit-headers.js';
import type { CountRequest } from '../../application/count-request.js';
import type { Decision } from '../../application/decisions.js';
import { assertBatchFits } from '../../domain/batch-fit.js';
import type { RefusingVerdict, Verdict } from '../../application/limiter.js';
import { PlanThrottlerStorage } from './plan-throttler-storage.js';

/** The budgets of requests without an account. */
export interface Budgets {
  readonly anonymous: AddressBudget;
  readonly operators: AddressBudget;
}

const BATCH_REFUSED = 'The batch does not fit into what remains of your plan.';

/** All operators share one window, regardless of their address. */
const OPERATORS = 'operators';

/**
 * Enforces the plan of each caller, and the budget of the address for requests without a valid key.
 *
 * The windows of an account are shared by all routes, so the throttler key names no route. Both windows are counted in
 * one step, and a response shows them in the headers of this API.
 */
export class PlanThrottlerGuard extends ThrottlerGuard implements Counter {
  constructor(
    options: ThrottlerModuleOptions,
    protected override readonly storageService: PlanThrottlerStorage,
    reflector: Reflector,
    private readonly countRequest: CountRequest,
    private readonly budgets: Budgets,
    private readonly decided: (decision: Decision) => void,
  ) {
    super(options, storageService, reflector);
  }

  async countMore(request: FastifyRequest, more: number): Promise<void> {
    assertBatchFits(more + 1, Math.min(...(request.rateLimit ?? []).map(({ limit }) => limit)));
    const count = (caller: Caller) => this.storageService.limiter.hit({ ...caller, count: more, retried: more + 1 });
    if (more === 0) return;
    if (await this.admit(request, count, BATCH_REFUSED)) {
      if (request.caller?.suspended === true) throw accountSuspended();
      return;
    }
    this.takeFromBudget(request);
    throw new DomainError('unauthorized', 'The API key has expired or was revoked. Use another one.');
  }

  protected override getTracker(request: FastifyRequest): Promise<string> {
    return Promise.resolve(
      request.caller === undefined ? request.clientAddress : PlanThrottlerStorage.keyOf(request.caller),
    );
  }

  protected override generateKey(_context: ExecutionContext, tracker: string): string {
    return tracker;
  }

  protected override async handleRequest(props: ThrottlerRequest): Promise<boolean> {
    const { context, throttler, getTracker, generateKey } = props;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.operator !== undefined) return this.takeFromBudget(request);
    request.counter = this;
    const increment = async () => {
      const key = generateKey(context, await getTracker(request, context), throttler.name ?? '');
      return (await this.storageService.increment(key)).verdict;
    };
    return (await this.admit(request, increment)) || this.takeFromBudget(request);
  }

  /** @returns false when the key turns out to be invalid: nothing was counted then */
  private async admit(
    request: FastifyRequest,
    count: (caller: Caller) => Promise<Verdict>,
    reason?: string,
  ): Promise<boolean> {
    const counted = await this.countRequest.execute(request, (caller) => this.count(request, count(caller)));
    if (counted.kind === 'invalid') return false;
    this.decided(counted.kind);
    if (counted.kind === 'admitted') return true;
    throw refusalError(counted, reason);
  }

  private async count(request: FastifyRequest, verdict: Promise<Verdict>): Promise<Verdict> {
    try {
      return await verdict;
    } catch (error) {
      this.decided('unavailable');
      const known = this.storageService.limiter.lastKnownWindows(request.caller?.accountId ?? '');
      request.rateLimit = exhausted(known ?? [this.budgets.anonymous.peek(request.clientAddress)]);
      throw error;
    }
  }

  /** Counts a request without an account. */
  private takeFromBudget(request: FastifyRequest): boolean {
    const { anonymous, operators } = this.budgets;
    const isOperator = request.operator !== undefined;
    const { passes, window } = isOperator ? operators.take(OPERATORS) : anonymous.take(request.clientAddress);
    request.rateLimit = [window];
    this.decided(`${isOperator ? 'operator' : 'anonymous'}_${passes ? 'admitted' : 'refused'}`);
    if (passes) return true;
    throw rateLimitExceeded(
      `The requests of ${isOperator ? 'operators' : 'your address'} are used up.`,
      leftMs(window),
    );
  }
}

/** The error of a request whose plan is used up or whose key is banned. */
export function refusalError(
  { kind, retryInMs }: RefusingVerdict,
  reason = 'The requests of your plan are used up.',
): RetryLaterError {
  if (kind === 'refused') return rateLimitExceeded(reason, retryInMs);
  const retryAfter = seconds(retryInMs);
  return new RetryLaterError(
    'api_key_banned',
    `This key is banned because it kept sending after 429 responses. Send nothing with it for ${retryAfter} s.`,
    retryAfter,
  );
}
