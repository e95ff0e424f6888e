/** Messages of one account that a turn has. Whoever has no backlog waits for no more than these of each one who has. */
const SHARE = 50;

/** What a queue can tell apart. */
const LAST_TURN = 2_097_151;

/**
 * Gives messages their turn in the queue, so that the backlog of one account does not starve another: each turn has a
 * share of every account that waits, and an account without a backlog begins with the turn that is being served
 * (start-time fair queueing). Kept by each process for itself: what it forgets with its end only makes newer messages
 * of an account come before older ones.
 */
export class FairTurns {
  private serving = 0;
  /** How many messages, from the first turn on, each account has had in turns that are still to come. */
  private had = new Map<string, number>();

  /** @param turn of the message that is next; null when none waits */
  see(turn: number | null): void {
    this.serving = turn ?? 0;
    const passed = turn === null ? Infinity : turn * SHARE;
    for (const [accountId, had] of this.had) if (had <= passed) this.had.delete(accountId);
  }

  /**
   * The turns of messages that are added together, from 0.
   * @param accountIds whose messages they are
   * @returns them, and a function that takes note of it when they have been added
   */
  of(accountIds: readonly string[]): { readonly turns: readonly number[]; readonly added: () => void } {
    const had = new Map<string, { readonly before: number; count: number }>();
    const turns = accountIds.map((accountId) => {
      const own = had.get(accountId) ?? { before: this.startOf(accountId), count: 0 };
      had.set(accountId, own);
      return Math.min(Math.floor((own.before + own.count++) / SHARE), LAST_TURN);
    });
    return {
      turns,
      added: () => {
        // Others may have been added meanwhile: these come on top of them.
        for (const [accountId, { before, count }] of had) {
          this.had.set(accountId, Math.max(this.had.get(accountId) ?? 0, before) + count);
        }
      },
    };
  }

  private startOf(accountId: string): number {
    return Math.max(this.had.get(accountId) ?? 0, this.serving * SHARE);
  }
}
