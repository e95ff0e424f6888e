import { residentBytes } from '../parts/usage.js';

const EVERY_MS = 100;

/** Samples the memory of a process ten times a second. */
export class MemorySampler {
  private readonly seen: number[] = [];
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.timer = setInterval(() => {
      this.sample();
    }, EVERY_MS);
    this.sample();
  }

  /** @returns the samples in bytes, in order */
  stop(): readonly number[] {
    clearInterval(this.timer);
    return this.seen;
  }

  private sample(): void {
    try {
      this.seen.push(residentBytes(this.pid));
    } catch {
      // The process has exited, which the load reports.
      clearInterval(this.timer);
    }
  }
}
