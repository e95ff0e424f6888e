/** After this long without work, an installation is quiet. */
const QUIET_AFTER_MS = 10_000;

/** While a process has work, it tells the others this often. */
const ANNOUNCED_EVERY_MS = 3_000;

/**
 * Whether this installation has had anything to do lately. While it is quiet, what is looked for periodically is looked
 * for less often: whoever has work again tells all processes, at once.
 */
export class Activity {
  private lastAt = performance.now();
  private announcedAt = -Infinity;
  private readonly listeners: (() => void)[] = [];
  private announce: () => void = () => undefined;

  get isQuiet(): boolean {
    return performance.now() - this.lastAt > QUIET_AFTER_MS;
  }

  /** This process has work. Cheap. */
  note(): void {
    const now = performance.now();
    this.noteOthers();
    if (now - this.announcedAt < ANNOUNCED_EVERY_MS) return;
    this.announcedAt = now;
    this.announce();
  }

  /** Another process has work, or may have. */
  noteOthers(): void {
    const wasQuiet = this.isQuiet;
    this.lastAt = performance.now();
    if (wasQuiet) for (const listener of this.listeners) listener();
  }

  /** @param announce tells the other processes that this one has work */
  announceBy(announce: () => void): void {
    this.announce = announce;
  }

  /** Calls the listener when the installation is no longer quiet. */
  onWake(listener: () => void): void {
    this.listeners.push(listener);
  }
}

/** For tests and tools. */
export const ALWAYS_ACTIVE: Pick<Activity, 'isQuiet' | 'note' | 'onWake'> = {
  isQuiet: false,
  note: () => undefined,
  onWake: () => undefined,
};
