import type { Clock } from '#kernel/clock.js';
import { DomainError } from '#kernel/domain-error.js';
import {
  type Availability,
  backoff,
  type Lease,
  type Leases,
  messageNotFound,
  type Messages,
  type RetryPolicy,
} from '#messages/index.js';
import { toReason } from '#messages/index.js';
import type { LeaseObserver } from './lease-messages.js';

/** The reason of a failed attempt for which a consumer gives none. */
const NO_REASON = 'rejected';

export interface Rejection {
  /** Null for the usual wait before a retry. */
  readonly delayMs: number | null;
  readonly reason: string | null;
}

/**
 * Acknowledges, rejects and extends the leases of a consumer. For a single message it throws DomainError `lease_lost`
 * when the lease has expired, and `message_not_found` when the account has no such message.
 */
export class EndLeases {
  constructor(
    private readonly leases: Leases,
    private readonly messages: Pick<Messages, 'find'>,
    private readonly availability: Pick<Availability, 'announce'>,
    private readonly policy: RetryPolicy,
    private readonly clock: Clock,
    private readonly observer: LeaseObserver,
    private readonly random: () => number = Math.random,
  ) {}

  /** @returns for each whether the message is delivered; false when its lease was lost */
  async acknowledgeAll(accountId: string, leases: readonly Lease[]): Promise<boolean[]> {
    const acknowledged = await this.leases.acknowledge(accountId, leases);
    const count = acknowledged.filter(Boolean).length;
    this.observer.acknowledged(count);
    this.observer.lost(leases.length - count);
    return acknowledged;
  }

  async acknowledge(accountId: string, lease: Lease): Promise<void> {
    const [acknowledged] = await this.leases.acknowledge(accountId, [lease]);
    if (acknowledged !== true) throw await this.lost(accountId, lease);
    this.observer.acknowledged(1);
  }

  /** Fails an attempt: the message is available again after a while, or fails when it was its last one. */
  async reject(accountId: string, lease: Lease, { delayMs, reason }: Rejection): Promise<void> {
    const leased = await this.leases.find(accountId, lease);
    if (leased !== null) {
      const isLast = leased.isLastAttempt(this.policy);
      const ended = leased[isLast ? 'fail' : 'requeue'](toReason(reason ?? '', NO_REASON), this.clock.now());
      const afterMs = delayMs ?? backoff(this.policy, leased.attemptsUsed + 1, this.random());
      if (await this.leases.reject(leased, ended, afterMs)) {
        if (!isLast) this.availability.announce([accountId]);
        this.observer.rejected();
        return;
      }
    }
    if (!(await this.leases.wasRejected(accountId, lease))) throw await this.lost(accountId, lease);
  }

  async extend(accountId: string, lease: Lease, leaseMs: number): Promise<Date> {
    const extended = await this.leases.extend(accountId, lease, leaseMs);
    if (extended === null) throw await this.lost(accountId, lease);
    // Waiting requests have set their timer to the later end.
    if (extended.isSooner) this.availability.announce([accountId]);
    return extended.expiresAt;
  }

  private async lost(accountId: string, { id }: Lease): Promise<DomainError> {
    if ((await this.messages.find(accountId, id)) === null) return messageNotFound();
    this.observer.lost(1);
    const detail = 'The lease of this message has expired, or the leaseToken is wrong. Lease messages again.';
    return new DomainError('lease_lost', detail);
  }
}
