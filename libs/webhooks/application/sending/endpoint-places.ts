import type { DueEndpoint } from '../endpoint-deliveries.js';

/** An endpoint that wants places. */
type Wanting = Pick<DueEndpoint, 'endpointId' | 'accountId' | 'due'>;

/** An endpoint gets this many places at first, one more for each quick success, and half as many after a failure. */
const INITIAL_WINDOW = 4;
/** What an account can have when no place is free, from the reserve: in all, and for slow and failing endpoints. */
const GUARANTEED = 4;
const GUARANTEED_SLOW = 1;
/** The share of all places that one endpoint can have. */
const MAX_SHARE = 1 / 2;
/** The share that all slow and failing endpoints can have together, besides what is guaranteed. */
const SLOW_SHARE = 1 / 2;
/** An attempt that takes longer makes its endpoint slow. */
const SLOW_MS = 1_000;
/** After this many failures in a row, attempts start at least so far apart. */
const FAILING_AFTER = 5;
const FAILING_SPACING_MS = 100;
/** What is known of an endpoint without running attempts is forgotten after this time. */
const FORGET_AFTER_MS = 600_000;

interface State {
  readonly accountId: string;
  /** When each running attempt has started, the oldest first. */
  readonly running: Map<symbol, number>;
  window: number;
  isSlow: boolean;
  failures: number;
  lastStart: number;
}

/** Running attempts of an account. */
interface Held {
  readonly all: number;
  /** To slow and failing endpoints. */
  readonly slow: number;
}

/**
 * Divides the requests that may run at the same time among endpoints, so that a slow or dead one delays no other. Each
 * has a window, as in TCP, that grows while requests succeed quickly. A place is the right to one running request.
 * Endpoints that are new, or have been quick so far, may never answer: so an account gets places only while it has fewer
 * than are free. That is half of them at most, and less beside other accounts. A few accounts together could still take
 * all, so each is guaranteed some, for which there is a reserve as large as the total. Bottleneck and p-queue have limits
 * that do not depend on one another, and no window that follows the outcome of requests.
 */
export class EndpointPlaces {
  private readonly states = new Map<string, State>();
  private taken = 0;

  /** @param now milliseconds of a steady clock */
  constructor(
    private readonly total: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Negative while places of the reserve are taken. */
  get free(): number {
    return this.total - this.taken;
  }

  get isFull(): boolean {
    return this.free === -this.total;
  }

  /** How many deliveries one endpoint may make at once. */
  get maxOfOne(): number {
    return Math.ceil(this.total * MAX_SHARE);
  }

  /** How many deliveries of each endpoint may start now. Endpoints take turns while there are too few places. */
  divide(due: readonly Wanting[]): Map<string, number> {
    this.forget();
    let free = this.free;
    const accounts = this.accounts();
    let freeForSlow = Math.floor(this.total * SLOW_SHARE);
    for (const { slow } of accounts.values()) freeForSlow -= slow;
    const places = new Map<string, number>();
    const wanting = due
      .map(({ due: count, ...whose }) => ({ ...whose, limit: Math.min(count, this.windowOf(whose.endpointId)) }))
      // Endpoints with the fewest running attempts first, and among these the ones that have waited the longest.
      .sort(
        (a, b) =>
          this.runningOf(a.endpointId) - this.runningOf(b.endpointId) ||
          this.lastStartOf(a.endpointId) - this.lastStartOf(b.endpointId),
      );
    for (let given = true; given;) {
      given = false;
      for (const { endpointId, accountId, limit } of wanting) {
        const count = places.get(endpointId) ?? 0;
        const held = accounts.get(accountId) ?? { all: 0, slow: 0 };
        const slow = this.isSlow(endpointId);
        if (count >= limit || free === -this.total || held.all >= Math.max(free, GUARANTEED)) continue;
        if (slow && held.slow >= Math.max(freeForSlow, GUARANTEED_SLOW)) continue;
        places.set(endpointId, count + 1);
        accounts.set(accountId, { all: held.all + 1, slow: held.slow + Number(slow) });
        free--;
        if (slow) freeForSlow--;
        given = true;
      }
    }
    return places;
  }

  /** An attempt starts; the result ends it. */
  take({ endpointId, accountId }: Pick<DueEndpoint, 'endpointId' | 'accountId'>): (succeeded: boolean) => void {
    const state = this.stateOf(endpointId, accountId);
    const startedAt = this.now();
    const attempt = Symbol('attempt');
    state.running.set(attempt, startedAt);
    state.lastStart = startedAt;
    this.taken++;
    return (succeeded) => {
      if (!state.running.delete(attempt)) return;
      this.taken--;
      state.isSlow = this.now() - startedAt > SLOW_MS;
      state.failures = succeeded ? 0 : state.failures + 1;
      const isGood = succeeded && !state.isSlow;
      state.window = isGood ? Math.min(state.window + 1, this.maxOfOne) : Math.max(1, Math.floor(state.window / 2));
    };
  }

  private windowOf(endpointId: string): number {
    const state = this.states.get(endpointId);
    if (state === undefined) return INITIAL_WINDOW;
    if (state.failures >= FAILING_AFTER && this.now() - state.lastStart < FAILING_SPACING_MS) return 0;
    return Math.max(0, state.window - state.running.size);
  }

  private lastStartOf(endpointId: string): number {
    return this.states.get(endpointId)?.lastStart ?? -Infinity;
  }

  private runningOf(endpointId: string): number {
    return this.states.get(endpointId)?.running.size ?? 0;
  }

  private isSlow(endpointId: string): boolean {
    const state = this.states.get(endpointId);
    if (state === undefined) return false;
    const [oldest = Infinity] = state.running.values();
    return state.isSlow || state.failures >= FAILING_AFTER || this.now() - oldest > SLOW_MS;
  }

  /** Endpoints that have running attempts. */
  private accounts(): Map<string, Held> {
    const accounts = new Map<string, Held>();
    for (const [id, { accountId, running }] of this.states) {
      if (running.size === 0) continue;
      const { all, slow } = accounts.get(accountId) ?? { all: 0, slow: 0 };
      accounts.set(accountId, { all: all + running.size, slow: slow + (this.isSlow(id) ? running.size : 0) });
    }
    return accounts;
  }

  private stateOf(endpointId: string, accountId: string): State {
    const known = this.states.get(endpointId);
    // The last one used is the last one of the map.
    this.states.delete(endpointId);
    const state = known ?? {
      accountId,
      running: new Map(),
      window: INITIAL_WINDOW,
      isSlow: false,
      failures: 0,
      lastStart: 0,
    };
    this.states.set(endpointId, state);
    return state;
  }

  private forget(): void {
    for (const [id, { running, lastStart }] of this.states) {
      if (this.now() - lastStart < FORGET_AFTER_MS) return;
      if (running.size === 0) this.states.delete(id);
    }
  }
}
