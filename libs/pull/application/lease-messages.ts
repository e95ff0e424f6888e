import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import type { Leases, Message } from '#messages/index.js';
import type { WaitingLeases } from './waiting-leases.js';

interface LeaseRequest {
  readonly max: number;
  readonly leaseMs: number;
  /** Milliseconds to wait while nothing is available. */
  readonly waitMs: number;
}

interface LeaseResponse {
  readonly messages: readonly Message[];
  /** Nothing was leased because the account is paused. */
  readonly paused: boolean;
}

export interface LeaseObserver {
  leased(messages: number): void;
  acknowledged(messages: number): void;
  rejected(): void;
  /** Attempts that ended because their lease expired. */
  expired(leases: number): void;
  /** Leases that had expired when they were to be ended or extended. */
  lost(leases: number): void;
}

/** Leases messages to a consumer, and waits for some if there are none. */
export class LeaseMessages {
  constructor(
    private readonly leases: Leases,
    private readonly waiting: WaitingLeases,
    private readonly observer: LeaseObserver,
    private readonly activity = ALWAYS_ACTIVE,
  ) {}

  /**
   * @param gone aborts when the client no longer waits
   * @param assertAllowed rejects when the client may no longer lease, such as after its key was revoked while it waited
   * @throws DomainError `unavailable` when the store can't be reached
   */
  async execute(
    accountId: string,
    { max, leaseMs, waitMs }: LeaseRequest,
    gone: AbortSignal,
    assertAllowed: () => Promise<void>,
  ): Promise<LeaseResponse> {
    const found = await this.waiting.search(accountId, waitMs, gone, {
      attempt: async () => {
        await assertAllowed();
        const leased = await this.leases.lease(accountId, { max, leaseMs });
        this.observer.leased(leased.messages.length);
        this.observer.expired(leased.expired);
        if (leased.messages.length + leased.expired > 0) this.activity.note();
        return leased.messages.length === 0 ? null : leased;
      },
      leaseMs,
      mayBeMore: (leased) => leased.mayBeMore,
      nextIn: () => this.leases.nextIn(accountId),
    });
    if (found !== null) return { messages: found.messages, paused: false };
    // Nothing was leased, so the request can still be refused.
    await assertAllowed();
    // That nothing was leased is true even if the reason cannot be read.
    return { messages: [], paused: await this.leases.isHalted(accountId).catch(() => false) };
  }
}
