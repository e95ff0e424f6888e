import type { JobEnd } from '#messages/index.js';

export interface EndedJobs {
  /** Jobs of open messages that workers of other programs have ended. */
  readonly ends: readonly JobEnd[];
  /** Where to continue. */
  readonly position: string;
}

/** What the queue reports about jobs: soon, but not reliably, because it keeps only its newest events. */
export abstract class JobEvents {
  /**
   * Events shortly before the position are read again.
   * @param position of the previous call; null reads all that the queue still has
   */
  abstract read(position: string | null): Promise<EndedJobs>;
}
