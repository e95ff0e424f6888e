/** Expired leases of messages that have no attempt left. */
export abstract class ExpiredLeases {
  /**
   * Fails messages whose last attempt had a lease that has expired, at most `limit` of each account.
   * @returns how many
   */
  abstract fail(limit: number): Promise<number>;
}
