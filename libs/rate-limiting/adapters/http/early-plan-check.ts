import type { DiscoveryService } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { unauthorized, type Authenticated, type AuthenticateCaller } from '#accounts/index.js';
import { rateLimitExceeded, type AddressBudget } from '#platform/http/access/address-budget.js';
import { bearerToken } from '#platform/http/access/caller.js';
import type { Caller } from '#kernel/caller.js';
import { leftMs } from '#kernel/rate-limit-window.js';
import { EarlyCheck } from '#platform/http/edge/request-hooks.js';
import type { Refusal } from '#platform/http/response.js';
import { OperatorKeys } from '#platform/http/access/secret.js';
import { allRoutes, keyedRoutes } from '#platform/http/openapi/routes.js';
import type { PlatformSettings } from '#platform/process/settings.js';
import type { Decision } from '../../application/decisions.js';
import type { CountRequest } from '../../application/count-request.js';
import { refusalError, type Budgets } from './plan-throttler.guard.js';

/** Created once, because an error captures its stack. */
const UNAUTHORIZED = unauthorized();

/**
 * Refuses a key whose plan is used up or that is banned, an address whose budget is used up, and requests without a
 * valid key on routes that need one. It stores its results on the request, for the guards.
 */
export class EarlyPlanCheck extends EarlyCheck {
  constructor(
    private readonly authenticate: Pick<AuthenticateCaller, 'cached'>,
    private readonly countRequest: Pick<CountRequest, 'recall'>,
    private readonly operators: OperatorKeys,
    private readonly anonymous: AddressBudget,
    private readonly needsKey: (target: string, method: string) => boolean,
    private readonly authenticated: Authenticated,
    private readonly decided: (decision: Decision) => void,
  ) {
    super();
  }

  recognize(request: FastifyRequest): boolean {
    const presented = bearerToken(request.headers.authorization);
    request.presentedKey = presented;
    request.cachedCaller = presented === undefined ? null : this.authenticate.cached(presented);
    request.operator = presented === undefined || request.cachedCaller ? undefined : this.operators.nameOf(presented);
    return request.operator !== undefined || request.cachedCaller !== null;
  }

  refusal(request: FastifyRequest): Refusal | null {
    const { cachedCaller, operator } = request;
    if (cachedCaller) return this.callerRefusal(cachedCaller);
    return operator !== undefined || cachedCaller === undefined ? null : this.anonymousRefusal(request);
  }

  private callerRefusal(caller: Caller): Refusal | null {
    const verdict = this.countRequest.recall(caller);
    if (verdict === null) return null;
    this.authenticated('valid');
    this.decided(verdict.kind);
    return { error: refusalError(verdict), windows: verdict.windows, caller };
  }

  private anonymousRefusal({ clientAddress, method, originalUrl, headers }: FastifyRequest): Refusal | null {
    if (!this.needsKey(originalUrl, method) && this.anonymous.peek(clientAddress).remaining > 0) return null;
    const { passes, window } = this.anonymous.take(clientAddress);
    this.authenticated(headers.authorization === undefined ? 'missing' : 'invalid');
    this.decided(passes ? 'anonymous_admitted' : 'anonymous_refused');
    const error = passes
      ? UNAUTHORIZED
      : rateLimitExceeded('The requests of your address are used up.', leftMs(window));
    return { error, windows: [window] };
  }
}

/** The check of a process, which knows its routes. */
export function earlyPlanCheck(
  authenticate: AuthenticateCaller,
  countRequest: CountRequest,
  { operatorKeys }: PlatformSettings,
  { anonymous }: Budgets,
  discovery: DiscoveryService,
  authenticated: Authenticated,
  decided: (decision: Decision) => void,
): EarlyPlanCheck {
  const operators = new OperatorKeys(operatorKeys);
  const needsKey = keyedRoutes(allRoutes(discovery));
  return new EarlyPlanCheck(authenticate, countRequest, operators, anonymous, needsKey, authenticated, decided);
}
