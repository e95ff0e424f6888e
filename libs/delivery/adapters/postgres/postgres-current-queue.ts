import { randomUUID } from 'node:crypto';
import type { Database } from '#platform/database/database.js';
import { sharedValue } from '#platform/database/installation.js';
import { CurrentQueue } from '../../application/current-queue.js';

const NAME = 'current_queue';

/** Seconds after which a process with the current queue renews the row. */
const RENEW_AFTER = 20;
/** Seconds without a renewal after which no process with the current queue runs any more. */
const GONE_AFTER = 60;

const READ = `
  SELECT extract(epoch FROM clock_timestamp())::int AS now,
         (SELECT value FROM sluice.installation WHERE name = '${NAME}') AS value`;

/**
 * Processes with the same queue share the id of a choice. When their Redis loses its data, its name changes: they recognize
 * each other by this id, and their queue stays the current one.
 */
export class PostgresCurrentQueue extends CurrentQueue {
  private choice: string | null = null;

  constructor(private readonly database: Database) {
    super();
  }

  async dataSet(): Promise<string | null> {
    return (await this.read()).dataSet ?? null;
  }

  protected async compare(own: string | null): Promise<boolean> {
    const { now, value, choice, dataSet, renewedAt } = await this.read();
    const age = Math.abs(now - Number(renewedAt));
    const isOurs = choice !== undefined && (choice === this.choice || dataSet === own);
    if (isOurs) this.choice = choice;
    const hasJustStarted = this.choice === null;
    // Ours: renew it when it is outdated. Another's: replace it if this process has just started, or all others are gone.
    const mustWrite = isOurs
      ? age > RENEW_AFTER || (own !== null && dataSet !== own)
      : own !== null && (hasJustStarted || age > GONE_AFTER);
    if (!mustWrite) return isOurs || hasJustStarted;
    const mine = this.choice ?? randomUUID();
    const ownOrKept = own ?? dataSet;
    const stored = await sharedValue(this.database, NAME, `${mine} ${ownOrKept} ${now}`, value === null ? [] : [value]);
    // Another process may have been faster: if its queue is another one, the next check compares with that.
    const [storedChoice = null, storedDataSet] = stored.split(' ');
    if (storedDataSet !== ownOrKept) return isOurs;
    this.choice = storedChoice;
    return true;
  }

  private async read() {
    const [row = { now: 0, value: null }] = await this.database.query<{ now: number; value: string | null }>(READ);
    const [choice, dataSet, renewedAt] = row.value?.split(' ') ?? [];
    return { ...row, choice, dataSet, renewedAt };
  }
}
