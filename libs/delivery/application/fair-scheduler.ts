/** The maximum number of messages of one account in one turn: another account waits for at most this many. */
const SHARE = 50;

/** The largest priority of BullMQ: of a retry that has no turn yet. It never delays a job that has one. */
export const NO_TURN = 2_097_151;

const LAST_TURN = NO_TURN - 1;

/**
 * Assigns messages to turns in the queue, so that the backlog of one account does not starve another: each turn has a
 * share of every account with a backlog, and an account without one starts in the current turn (start-time fair
 * queueing). Each process schedules for itself: after a restart, an account's newer messages may pass its older ones.
 */
export class FairScheduler {
  private currentTurn = 0;
  /** By account: the position after its last scheduled message, counted from the first turn. */
  private readonly scheduled = new Map<string, number>();

  /** @param turn of the next message in the queue; null when it is empty */
  setCurrentTurn(turn: number | null): void {
    this.currentTurn = turn ?? 0;
    const passed = turn === null ? Infinity : turn * SHARE;
    for (const [accountId, count] of this.scheduled) if (count <= passed) this.scheduled.delete(accountId);
  }

  /**
   * The turns of messages that are added together, from 0.
   * @param accountIds of the messages
   * @returns the turns, and a function to call once the messages have been added
   */
  assign(accountIds: readonly string[]): { readonly turns: readonly number[]; readonly added: () => void } {
    const assigned = new Map<string, { readonly start: number; count: number }>();
    const turns = accountIds.map((accountId) => {
      const range = assigned.get(accountId) ?? { start: this.startOf(accountId), count: 0 };
      assigned.set(accountId, range);
      return Math.min(Math.floor((range.start + range.count++) / SHARE), LAST_TURN);
    });
    return {
      turns,
      added: () => {
        // Counted on top of what was added concurrently.
        for (const [accountId, { start, count }] of assigned) {
          this.scheduled.set(accountId, Math.max(this.scheduled.get(accountId) ?? 0, start) + count);
        }
      },
    };
  }

  private startOf(accountId: string): number {
    return Math.max(this.scheduled.get(accountId) ?? 0, this.currentTurn * SHARE);
  }
}
