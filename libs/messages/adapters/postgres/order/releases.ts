import type { Database } from '#platform/database/database.js';
import type { Availability } from '../../../application/delivering/availability.js';
import type { JobDispatch } from '../../../application/delivering/job-dispatch.js';
import { DayStatement } from '../day-statement.js';
import { BYTES } from '../message-size.sql.js';
import { COLUMNS, OPEN, toMessage, type MessageRow } from '../message-row.js';
import { insertEntriesToSweep } from '../start-delivery.sql.js';
import { isTakenBack } from './lines.sql.js';

/** What a statement has released, in one of three kinds of rows. */
export interface ReleasedRow {
  /** An outbox entry to relay, with its messages. */
  readonly entry_id: string | null;
  /** Without an entry, messages whose jobs are taken back. */
  readonly message_ids: string[] | null;
  readonly available: string | null;
}

const FIND = new DayStatement(
  'released',
  (isOfDay) => `SELECT ${COLUMNS} FROM sluice.messages WHERE id = ANY ($1::text[])${isOfDay('id')}`,
);

/** Those that were released again before their job was removed. */
const RETURN = `
  WITH returned AS (
    SELECT m.id, ${BYTES} AS bytes FROM sluice.messages m
    WHERE m.id = ANY ($1::text[]) AND m.status IN (${OPEN}) AND (${isTakenBack('m')}) IS NOT TRUE
  )${insertEntriesToSweep('returned')}`;

/** Starts deliveries that were released by the end of others. It only makes them faster: a sweeper would start them. */
export class Releases {
  constructor(
    private readonly database: Database,
    private readonly jobs: Pick<JobDispatch, 'enqueue' | 'remove'>,
    private readonly availability: Pick<Availability, 'announce'>,
  ) {}

  /**
   * @param rows which may be of another kind
   * @param atOnce whether the jobs are not added together with later ones
   * @returns a promise that resolves, and never rejects, when the jobs are in the queue or left to the sweeper
   */
  async start(rows: readonly Partial<ReleasedRow>[], atOnce = false): Promise<void> {
    const available = new Set<string>();
    const entries: { id: string; ids: string[] }[] = [];
    const takenBack: string[] = [];
    for (const { entry_id: id = null, message_ids: ids = null, available: one = null } of rows) {
      if (one !== null) available.add(one);
      else if (ids !== null && id !== null) entries.push({ id, ids });
      else if (ids !== null) takenBack.push(...ids);
    }
    if (available.size > 0) this.availability.announce(available);
    if (takenBack.length > 0) void this.takeBack(takenBack).catch(() => undefined);
    if (entries.length > 0) await this.relay(entries, atOnce).catch(() => undefined);
  }

  private async relay(entries: readonly { id: string; ids: string[] }[], atOnce: boolean): Promise<void> {
    const found = await this.find(entries.flatMap(({ ids }) => ids));
    const relayed = entries.map(({ id, ids }) => {
      const names = new Set(ids);
      const entry = { id, messages: found.filter((message) => names.has(message.id)) };
      return new Promise<void>((resolve) => {
        this.jobs.enqueue(entry, atOnce ? resolve : undefined);
        if (!atOnce) resolve();
      });
    });
    await Promise.all(relayed);
  }

  /**
   * A worker of Sluice does not begin them anyway. A job that is removed although its message was released again is
   * added anew.
   */
  private async takeBack(ids: readonly string[]): Promise<void> {
    for (const message of await this.find(ids)) await this.jobs.remove(message.jobId).catch(() => undefined);
    await this.database.query(RETURN, [ids]);
  }

  private async find(ids: readonly string[]) {
    const { name, text } = FIND.for(ids);
    return (await this.database.prepared<MessageRow>(name, text, [ids])).map(toMessage);
  }
}
