import type { LeaseObserver } from './lease-messages.js';

/** Failed in one step. */
const AT_ONCE = 1_000;

/** Leases that have expired, of messages that may not be leased again. */
export abstract class ExpiredLeases {
  /**
   * Fails messages whose last attempt had a lease that has expired, at most `limit` of each account.
   * @returns how many
   */
  abstract fail(limit: number): Promise<number>;
}

/** Fails messages whose last lease has expired and that no consumer asks for any more. */
export class FailExpiredLeases {
  constructor(
    private readonly leases: ExpiredLeases,
    private readonly observer: Pick<LeaseObserver, 'expired'>,
  ) {}

  /** @returns whether there may be more */
  async execute(): Promise<boolean> {
    const failed = await this.leases.fail(AT_ONCE);
    this.observer.expired(failed);
    return failed >= AT_ONCE;
  }
}
