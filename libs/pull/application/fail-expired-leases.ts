import type { ExpiredLeases } from '#messages/index.js';
import type { LeaseObserver } from './lease-messages.js';

/** Messages of each account that one step fails. */
const AT_ONCE = 1_000;

/** Fails messages whose last attempt has expired. A lease does the same for what it finds, but no consumer may ask. */
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
