import { residentBytes } from '../parts/usage.js';

const EVERY_MS = 100;

/** Looks, ten times a second, how much memory a process has. */
export class Memory {
  private readonly seen: number[] = [];
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.timer = setInterval(() => {
      this.look();
    }, EVERY_MS);
    this.look();
  }

  /** @returns the bytes seen, in their order */
  stop(): readonly number[] {
    clearInterval(this.timer);
    return this.seen;
  }

  private look(): void {
    try {
      this.seen.push(residentBytes(this.pid));
    } catch {
      // It has ended, which is for those to tell who wait for its answers.
      clearInterval(this.timer);
    }
  }
}
