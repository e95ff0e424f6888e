import type { Database } from '#platform/database/database.js';
import type { JobEnd } from '#messages/index.js';
import { INSPECT_LINES, type InspectedKey, IS_BLOCKED, isDeleted } from '#messages/adapters/postgres/index.js';
import { toJobEnd, type ForeignEnd, type JobOwner } from '../../application/foreign-end.js';
import type { InspectedJob, JobQueue } from '../../application/job-queue.js';
import { StrayMessages, type StrayMessage, type StrayPage } from '../../application/stray-messages.js';
import {
  COUNT_UNDELIVERED,
  DUE,
  insertEntriesFor,
  IS_HALTED,
  JOB_ID,
  MAX_ENTRIES,
  SHOULD_HAVE_JOB,
  UNCLAIMED,
} from './open-messages.sql.js';

/** Messages that the census checks at once. */
const COUNTED_AT_ONCE = 20_000;

const REQUEUED_AT_ONCE = 1_000;

const FIELDS = `m.id, m.retries, m.crashes, m.status, ${JOB_ID} AS "jobId"`;

/** The next open messages after `$1`; those that may be strays have a job to look for. */
export const PAGE = `
  SELECT ${FIELDS}, ${UNCLAIMED} AND (m.deliver_at IS NULL OR m.deliver_at <= now()) AS is_due,
         ${IS_BLOCKED} AS is_blocked
  FROM sluice.messages m WHERE ${SHOULD_HAVE_JOB} AND m.id > $1 ORDER BY m.id LIMIT $2`;

const STILL = `
  FROM sluice.messages m JOIN unnest($1::text[], $2::int[]) AS seen (id, retries) USING (id, retries)
  WHERE ${UNCLAIMED} AND NOT ${isDeleted('m.account_id')}`;

/** Those that still wait for a worker, and are not in the outbox. */
const STILL_DUE = `
  WITH due AS (${DUE})
  SELECT ${FIELDS} ${STILL}
    AND m.id NOT IN (SELECT unnest(message_ids) FROM due)
    AND ${IS_HALTED} IS NULL
  ORDER BY m.id`;

const IS_OUTBOX_LONG = `SELECT count(*) > ${MAX_ENTRIES} AS is_long FROM (${DUE}) due`;

const STILL_OPEN = `
  SELECT ${FIELDS} ${STILL}
    AND NOT EXISTS (SELECT FROM (SELECT unnest(message_ids) AS id FROM sluice.outbox) o WHERE o.id = m.id)`;

const OF_JOBS = `
  FROM unnest($1::text[]) AS job (id)
  JOIN sluice.messages m ON m.id = split_part(job.id, '.', 1) AND job.id = ${JOB_ID}`;

const WAITING_FOR_JOBS = `SELECT m.id ${OF_JOBS} WHERE ${SHOULD_HAVE_JOB}`;

const UNCLAIMED_OF_JOBS = `SELECT ${FIELDS} ${OF_JOBS} WHERE ${UNCLAIMED}`;

interface PageRow extends JobOwner {
  readonly is_due: boolean;
  /** It waits for another message with its ordering key. */
  readonly is_blocked: boolean;
}

interface Found {
  readonly message: JobOwner;
  /** Its job that has ended; undefined when there is none. */
  readonly job: InspectedJob | undefined;
}

export class PostgresStrayMessages extends StrayMessages {
  constructor(
    private readonly database: Pick<Database, 'query'>,
    private readonly queue: Pick<JobQueue, 'inspect' | 'endsOf' | 'removeDead'>,
  ) {
    super();
  }

  async count(): Promise<number> {
    const [undelivered] = await this.database.query<{ count: number }>(COUNT_UNDELIVERED);
    let count = (undelivered?.count ?? 0) + (await this.countStuckKeys());
    for (let position = ''; ;) {
      const page = await this.database.query<PageRow>(PAGE, [position, COUNTED_AT_ONCE]);
      const awaited = page.filter(({ is_blocked }) => !is_blocked);
      count += (await this.strays(awaited, STILL_OPEN)).length;
      position = page.at(-1)?.id ?? '';
      if (page.length < COUNTED_AT_ONCE) return count;
    }
  }

  async findAfter(after: string, limit: number): Promise<StrayPage | null> {
    const page = await this.database.query<PageRow>(PAGE, [after, limit]);
    if (page.length === 0) return { strays: [], position: '' };
    const [outbox] = await this.database.query<{ is_long: boolean }>(IS_OUTBOX_LONG);
    if (outbox?.is_long === true) return null;
    const found = await this.strays(
      page.filter(({ is_due, is_blocked }) => is_due && !is_blocked),
      STILL_DUE,
    );
    const removed = found.flatMap(({ message, job }) => (job === undefined ? [message.jobId] : []));
    const ends = removed.length === 0 ? new Map<string, ForeignEnd>() : await this.queue.endsOf(removed);
    const strays = found.map(({ message, job }) => {
      const { id, retries, jobId } = message;
      const end = job === undefined ? ends.get(jobId) : job.foreignEnd;
      return { id, retries, jobId, endedElsewhere: end ? toJobEnd(message, end) : null };
    });
    return { strays, position: page.length < limit ? '' : (page.at(-1)?.id ?? '') };
  }

  async requeue(strays: readonly StrayMessage[]): Promise<void> {
    for (let start = 0; start < strays.length; start += REQUEUED_AT_ONCE) {
      const some = strays.slice(start, start + REQUEUED_AT_ONCE);
      await this.queue.removeDead(some.map(({ jobId }) => jobId));
      await this.database.query(insertEntriesFor('$1'), [some.map(({ id }) => id)]);
    }
  }

  async requeueJobs(jobIds: readonly string[]): Promise<void> {
    const rows = await this.database.query<{ id: string }>(WAITING_FOR_JOBS, [jobIds]);
    if (rows.length > 0) await this.database.query(insertEntriesFor('$1'), [rows.map(({ id }) => id)]);
  }

  async endsOfOpen(ends: ReadonlyMap<string, ForeignEnd>): Promise<JobEnd[]> {
    if (ends.size === 0) return [];
    const messages = await this.database.query<JobOwner>(UNCLAIMED_OF_JOBS, [[...ends.keys()]]);
    return messages.flatMap((message) => {
      const end = ends.get(message.jobId);
      return end === undefined ? [] : [toJobEnd(message, end)];
    });
  }

  private async countStuckKeys(): Promise<number> {
    let count = 0;
    for (let last = { line: '', ordering_key: '' }; ;) {
      const values = [last.line, last.ordering_key, COUNTED_AT_ONCE];
      const keys = await this.database.query<InspectedKey>(INSPECT_LINES, values);
      count += keys.filter(({ is_stuck }) => is_stuck).length;
      last = keys.at(-1) ?? last;
      if (keys.length < COUNTED_AT_ONCE) return count;
    }
  }

  /**
   * Messages of these that nothing will deliver. No snapshot contains both messages and jobs, so both are looked at
   * twice: a message that was on its way at first has a job, or is settled, at the second time.
   * @param still keeps those that are still open, unclaimed and not in the outbox
   */
  private async strays(messages: readonly JobOwner[], still: string): Promise<Found[]> {
    let found: Found[] = messages.map((message) => ({ message, job: undefined }));
    for (let look = 0; look < 2 && found.length > 0; look++) {
      const jobs = await this.queue.inspect(found.map(({ message }) => message.jobId));
      const jobless = found.filter(({ message }) => jobs.get(message.jobId)?.isLive !== true);
      const rows = await this.database.query<JobOwner>(still, [
        jobless.map(({ message }) => message.id),
        jobless.map(({ message }) => message.retries),
      ]);
      found = rows.map((message) => ({ message, job: jobs.get(message.jobId) }));
    }
    return found;
  }
}
