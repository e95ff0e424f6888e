import { HeldPlaces } from './held-places.js';

/** The maximum number of messages of one account in one turn: another account waits for at most this many. */
const SHARE = 50;

/** The same for the express turn while some accounts hold more places than their share: it must not fill up by others. */
const EXPRESS_SHARE = 500;

/** How long an account's messages in the express turn count, in milliseconds. */
const EXPRESS_MS = 1_000;

/**
 * The priorities below this are the express turn. An account's first message of a second in it has priority 0, the next
 * two 1, the next four 2, and so on: so the few messages of one account pass the many of another within the turn, too.
 */
export const FIRST_TURN = 6;

/** The largest priority of BullMQ: of a retry that has no turn yet. It never delays a job that has one. */
export const NO_TURN = 2_097_151;

const LAST_TURN = NO_TURN - 1;

/** What waits in the queue. */
export interface Waiting {
  /** Whether any job of the express turn waits. */
  readonly express: boolean;
  /** The priority of the first waiting job that has another turn; null when there is none. */
  readonly turn: number | null;
}

/** Where an account's next messages go: to the express turn, or to positions counted from the first turn. */
interface Range {
  readonly isExpress: boolean;
  readonly start: number;
  count: number;
}

/**
 * Assigns messages to turns in the queue, so that the backlog of one account does not starve another: each turn has a
 * share of every account with a backlog (start-time fair queueing). An account that sends little, and does not hold more
 * places of the workers than its share, passes them in the express turn. Each process schedules for itself: after a
 * restart, an account's newer messages may pass its older ones.
 */
export class FairScheduler {
  private currentTurn = 0;
  /** By account: the position after its last scheduled message, counted from the first turn. */
  private readonly scheduled = new Map<string, number>();
  /** By account: its messages in the express turn in this second, or since that was last seen empty. */
  private readonly passed = new Map<string, number>();
  private passedSince = -Infinity;

  /**
   * @param held the places that accounts hold
   * @param now milliseconds of a clock that never goes back
   */
  constructor(
    readonly held: Pick<HeldPlaces, 'isHeavy' | 'heavyAccounts'> = new HeldPlaces(),
    private readonly now = () => performance.now(),
  ) {}

  setWaiting({ express, turn }: Waiting): void {
    this.currentTurn = turn === null ? 0 : turn - FIRST_TURN;
    const over = turn === null ? Infinity : this.currentTurn * SHARE;
    for (const [accountId, count] of this.scheduled) if (count <= over) this.scheduled.delete(accountId);
    if (!express) this.forgetPassed();
  }

  /**
   * The turns of messages that are added together, as priorities from 0.
   * @param accountIds of the messages
   * @returns the turns, and a function to call once the messages have been added
   */
  assign(accountIds: readonly string[]): { readonly turns: readonly number[]; readonly added: () => void } {
    if (this.now() - this.passedSince >= EXPRESS_MS) this.forgetPassed();
    const counts = new Map<string, number>();
    for (const accountId of accountIds) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    const ranges = new Map([...counts].map(([accountId, count]) => [accountId, this.rangeOf(accountId, count)]));
    const turns = accountIds.map((accountId) => {
      const range = ranges.get(accountId) ?? this.rangeOf(accountId, 1);
      const position = range.start + range.count++;
      if (range.isExpress) return Math.min(Math.floor(Math.log2(position + 1)), FIRST_TURN - 1);
      return Math.min(FIRST_TURN + Math.floor(position / SHARE), LAST_TURN);
    });
    return {
      turns,
      added: () => {
        // Counted on top of what was added concurrently.
        for (const [accountId, { isExpress, start, count }] of ranges) {
          if (isExpress) this.passed.set(accountId, (this.passed.get(accountId) ?? 0) + count);
          else this.scheduled.set(accountId, Math.max(this.scheduled.get(accountId) ?? 0, start) + count);
        }
      },
    };
  }

  private forgetPassed(): void {
    this.passed.clear();
    this.passedSince = this.now();
  }

  private rangeOf(accountId: string, count: number): Range {
    const [scheduled, current] = [this.scheduled.get(accountId) ?? 0, this.currentTurn * SHARE];
    const passed = this.passed.get(accountId) ?? 0;
    const arePlacesShort = this.held.heavyAccounts.length > 0;
    // With a backlog, it would only pass its own messages, unless others hold the places.
    const hasBacklog = scheduled > current && !arePlacesShort;
    // Many at once are a backlog, whoever holds the places.
    const hasMany = count > SHARE || passed + count > (arePlacesShort ? EXPRESS_SHARE : SHARE);
    const isExpress = !hasBacklog && !hasMany && !this.held.isHeavy(accountId);
    return { isExpress, start: isExpress ? passed : Math.max(scheduled, current), count: 0 };
  }
}
