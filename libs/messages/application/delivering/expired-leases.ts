export abstract class ExpiredLeases {
  /**
   * Queues messages whose lease has expired, or fails them if it was their last attempt: at most `limit` of each account.
   * @returns how many
   */
  abstract end(limit: number): Promise<number>;
}
