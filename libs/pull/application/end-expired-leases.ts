import type { ExpiredLeases } from '#messages/index.js';
import type { LeaseObserver } from './lease-messages.js';

/** Leases of each account that one step ends. */
const AT_ONCE = 1_000;

/** Ends attempts whose lease has expired. A lease does the same for what it finds, but no consumer may ask. */
export class EndExpiredLeases {
  constructor(
    private readonly leases: ExpiredLeases,
    private readonly observer: Pick<LeaseObserver, 'expired'>,
  ) {}

  /** @returns whether there may be more */
  async execute(): Promise<boolean> {
    const ended = await this.leases.end(AT_ONCE);
    this.observer.expired(ended);
    return ended >= AT_ONCE;
  }
}
