import type { Backlog } from '#rate-limiting/index.js';
import type { Backlogs } from './backlogs.js';

export class GetBacklog {
  constructor(private readonly backlogs: Backlogs) {}

  execute(accountId: string): Promise<Backlog> {
    return this.backlogs.of(accountId);
  }
}
