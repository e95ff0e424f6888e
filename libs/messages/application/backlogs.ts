import type { Backlog } from '#rate-limiting/index.js';

export abstract class Backlogs {
  /** How many messages of an account wait, and how fast they are delivered. Cheap, however many there are. */
  abstract of(accountId: string): Promise<Backlog>;
}
