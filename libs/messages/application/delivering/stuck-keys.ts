/** Ordering keys of which messages wait although no message before them is on its way. Only a fault leaves one behind. */
export abstract class StuckKeys {
  /**
   * Looks at some keys, by each way of delivery, after those that it has looked at before, and starts the first delivery
   * of each that is stuck.
   * @returns of how many
   */
  abstract release(): Promise<number>;
}
