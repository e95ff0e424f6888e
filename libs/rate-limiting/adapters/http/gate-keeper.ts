import type { IncomingMessage } from 'node:http';
import { unauthorized, type Authenticated, type AuthenticateCaller, type Caller } from '#accounts/index.js';
import { rateLimitExceeded, type AddressBudget } from '#platform/http/address-budget.js';
import { bearerToken } from '#platform/http/caller.js';
import type { Refusal } from '#platform/http/gate.js';
import { requestFault } from '#platform/http/request-form.js';
import type { Secret } from '#platform/http/secret.js';
import type { Decision } from '../../decisions.js';
import type { PlanThrottlerStorage } from '../../plan-throttler-storage.js';
import { refusedBy } from './plan-throttler.guard.js';

/** Made once: an error costs a stack. */
const UNAUTHORIZED = unauthorized();

export interface GateKeeperParts {
  readonly authenticate: Pick<AuthenticateCaller, 'cached'>;
  readonly operatorsKey: Secret | null;
  readonly storage: Pick<PlanThrottlerStorage, 'recall'>;
  readonly strangers: AddressBudget;
  readonly addressOf: (request: IncomingMessage) => string;
  /** Whether a target is one that needs an API key, for certain. */
  readonly needsKey: (target: string, method: string) => boolean;
  readonly authenticated: Authenticated;
  readonly decided: (decision: Decision) => void;
}

/**
 * Refuses, from memory alone, who would be refused by the guards behind it: a key whose plan is used up or that is
 * banned, an address whose budget is, and whoever has no key that was issued here. What it is not sure of may go on.
 */
export class GateKeeper {
  constructor(private readonly parts: GateKeeperParts) {}

  readonly check = (request: IncomingMessage): Refusal | null => {
    const { url = '', headers } = request;
    if (requestFault(request, url) !== undefined || !isDecodable(url)) return null;
    const presented = bearerToken(headers.authorization);
    const caller = presented === undefined ? null : this.parts.authenticate.cached(presented);
    if (caller === undefined) return null;
    if (caller !== null) return this.refusedCaller(caller);
    if (presented !== undefined && this.parts.operatorsKey?.matches(presented) === true) return null;
    return this.refusedStranger(request, url);
  };

  private refusedCaller(caller: Caller): Refusal | null {
    const { accountId, keyId, epoch } = caller;
    const verdict = this.parts.storage.recall({ accountId, keyId, epoch, count: 1 });
    if (verdict === null) return null;
    this.parts.authenticated('valid');
    this.parts.decided(verdict.kind);
    return { error: refusedBy(verdict), windows: verdict.windows, caller };
  }

  private refusedStranger(request: IncomingMessage, target: string): Refusal | null {
    const { strangers, addressOf, needsKey, authenticated, decided } = this.parts;
    const address = addressOf(request);
    if (!needsKey(target, request.method ?? '') && strangers.peek(address).remaining > 0) return null;
    const { passes, window } = strangers.take(address);
    authenticated(request.headers.authorization === undefined ? 'missing' : 'invalid');
    decided(passes ? 'stranger_admitted' : 'stranger_refused');
    const error = passes ? UNAUTHORIZED : rateLimitExceeded('The requests of your address', window.resetsInMs);
    return { error, windows: [window] };
  }
}

/** Whether the router could read a target, which it answers with 400 otherwise. */
function isDecodable(target: string): boolean {
  if (!target.includes('%')) return true;
  try {
    decodeURI(target);
    return true;
  } catch {
    return false;
  }
}
