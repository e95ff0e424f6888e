/** A message holds its place once its handler has taken this long: quicker ones take no place from anybody. */
export const HELD_AFTER_MS = 150;

/** How long it takes until two thirds of what an account has held are forgotten. */
const MEMORY_MS = 10_000;

/** An account that holds less than this on average is forgotten, or never in the way. */
const FORGOTTEN_BELOW = 0.05;
const NEVER_HEAVY_BELOW = 0.5;

/**
 * How many places of the workers each account holds, now and on average over the last seconds. An account is heavy when it
 * holds at least half of what each would have if all that hold some, and a newcomer, had the same number: so while
 * places are short, all that hold less than half of a fair share come first, and the accounts that are not heavy hold
 * less than half of all places together.
 */
export class HeldPlaces {
  private readonly averages = new Map<string, number>();
  private before: ReadonlyMap<string, number> = new Map();
  private heavy = new Set<string>();
  private lookedAt = -Infinity;
  private held = 0;

  /** Places that were held both of the last times when they were counted, of all workers. */
  get total(): number {
    return this.held;
  }

  get heavyAccounts(): readonly string[] {
    return [...this.heavy];
  }

  isHeavy(accountId: string): boolean {
    return this.heavy.has(accountId);
  }

  /**
   * @param places that accounts hold, by their ids
   * @param at milliseconds of a clock that never goes back
   */
  observe(places: ReadonlyMap<string, number>, at: number): void {
    const weight = 1 - Math.exp((this.lookedAt - at) / MEMORY_MS);
    this.lookedAt = at;
    this.held = 0;
    const used = new Map<string, number>();
    for (const accountId of new Set([...this.averages.keys(), ...places.keys()])) {
      // Places for a moment say nothing: a database that stalls holds up all that run.
      const lasting = Math.min(places.get(accountId) ?? 0, this.before.get(accountId) ?? 0);
      const earlier = this.averages.get(accountId) ?? 0;
      const average = earlier + weight * (lasting - earlier);
      if (average < FORGOTTEN_BELOW) this.averages.delete(accountId);
      else this.averages.set(accountId, average);
      this.held += lasting;
      // Soon when it takes many.
      used.set(accountId, Math.max(average, lasting - 1));
    }
    this.before = places;
    const all = [...used.values()].reduce((sum, count) => sum + count, 0);
    const limit = Math.max(NEVER_HEAVY_BELOW, all / (used.size + 1) / 2);
    this.heavy = new Set([...used].filter(([, count]) => count >= limit).map(([accountId]) => accountId));
  }
}
