import type { AuthenticateCaller } from '#accounts/index.js';
import type { Caller } from '#kernel/caller.js';
import { DomainError } from '#kernel/domain-error.js';
import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import type { Limiter, RefusingVerdict, Verdict } from './limiter.js';

/** A key that is still outdated after this many lookups can't be verified. */
const MAX_LOOKUPS = 5;

/** A request of an account. The results of the checks stay on it, also when it is refused. */
export interface CountedRequest {
  presentedKey?: string | undefined;
  /** Undefined once the key has turned out to be invalid. */
  caller?: Caller | undefined;
  /** When the key was last verified. */
  verifiedAt?: number;
  /** The windows that its response shows. */
  rateLimit?: readonly RateLimitWindow[];
}

/** The key turned out to be invalid; nothing was counted. */
type Counted = Exclude<Verdict, { kind: 'stale' }> | { readonly kind: 'invalid' };

/** Counts a request against the plan of its account. A key that has changed since it was cached is looked up again. */
export class CountRequest {
  /** @param now the time of `verifiedAt` */
  constructor(
    private readonly limiter: Pick<Limiter, 'recall'>,
    private readonly authenticate: Pick<AuthenticateCaller, 'refresh'>,
    private readonly now: () => number,
  ) {}

  /** The refusal of a request that is known from memory; null when only the store can decide. */
  recall({ accountId, keyId, epoch }: Caller): RefusingVerdict | null {
    return this.limiter.recall({ accountId, keyId, epoch, count: 1 });
  }

  /**
   * @param count counts it once
   * @throws DomainError `unavailable` when it can't be counted, or its key can't be verified
   */
  async execute(request: CountedRequest, count: (caller: Caller) => Promise<Verdict>): Promise<Counted> {
    for (let lookups = 0; request.caller !== undefined; lookups++) {
      if (lookups === MAX_LOOKUPS) throw new DomainError('unavailable', 'Could not verify the API key. Retry later.');
      request.verifiedAt = this.now();
      const verdict = await count(request.caller);
      if (verdict.kind !== 'stale') {
        request.rateLimit = verdict.windows;
        return verdict;
      }
      request.caller = (await this.authenticate.refresh(request.presentedKey ?? '')) ?? undefined;
    }
    return { kind: 'invalid' };
  }
}
