import { residentBytes } from '../parts/usage.js';

const EVERY_MS = 100;

/** Looks, ten times a second, how much memory a process has. */
export class Memory {
  private readonly seen: number[] = [];
  private readonly timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.seen.push(residentBytes(pid));
    this.timer = setInterval(() => this.seen.push(residentBytes(pid)), EVERY_MS);
  }

  /** @returns the bytes seen, in their order */
  stop(): readonly number[] {
    clearInterval(this.timer);
    return this.seen;
  }
}
