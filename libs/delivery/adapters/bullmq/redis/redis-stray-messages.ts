import type { Database } from '#platform/database/database.js';
import { StrayMessages, type StrayMessage } from '../../../application/stray-messages.js';
import { endByOthers, GONE, type JobEndRow } from '../job-ends.js';
import {
  CONTINUE,
  COUNT_UNDELIVERED,
  DUE,
  insertEntriesFor,
  IS_SUSPENDED,
  JOB_ID,
  MAX_ENTRIES,
  SHOULD_HAVE_JOB,
  UNCLAIMED,
} from '../open-messages.sql.js';
import { isLeft } from '../left-jobs.sql.js';
import { findableJobs, removeTraces } from './job-places.js';
import type { RedisQueueConnection } from './redis-queue-connection.js';
import { lastEvents, MAX_EVENTS } from './stored-events.js';
import { storedJobs, type OpenMessageRow, type StoredJob } from './stored-jobs.js';

/** Messages that the census checks at once. */
const COUNTED_AT_ONCE = 20_000;

const REQUEUED_AT_ONCE = 1_000;

const FIELDS = `m.id, m.retries, m.crashes, m.status, ${JOB_ID} AS job_id`;

/** The next open messages after `$1`; those that may be strays have a job to look for. */
const PAGE = `
  SELECT ${FIELDS}, ${UNCLAIMED} AND (m.deliver_at IS NULL OR m.deliver_at <= now()) AS is_due
  FROM sluice.messages m WHERE ${SHOULD_HAVE_JOB} AND m.id > $1 ORDER BY m.id LIMIT $2`;

const STILL = `
  FROM sluice.messages m JOIN unnest($1::text[], $2::int[]) AS seen (id, retries) USING (id, retries)
  WHERE ${UNCLAIMED} AND NOT ${isLeft('$3')}`;

/** Those that still wait for a worker, and are not in the outbox. */
const STILL_DUE = `
  WITH due AS (${DUE})
  SELECT ${FIELDS} ${STILL}
    AND m.id NOT IN (SELECT unnest(message_ids) FROM due)
    AND ${IS_SUSPENDED} IS NULL
  ORDER BY m.id`;

const IS_OUTBOX_LONG = `SELECT count(*) > ${MAX_ENTRIES} AS is_long FROM (${DUE}) due`;

const STILL_OPEN = `
  SELECT ${FIELDS} ${STILL}
    AND NOT EXISTS (SELECT FROM (SELECT unnest(message_ids) AS id FROM sluice.outbox) o WHERE o.id = m.id)`;

interface PageRow extends OpenMessageRow {
  readonly is_due: boolean;
}

interface Found {
  readonly message: OpenMessageRow;
  /** Its job that has ended, or that no worker finds; undefined when there is none. */
  readonly job: StoredJob | undefined;
}

export class RedisStrayMessages extends StrayMessages {
  constructor(
    private readonly database: Database,
    private readonly connection: RedisQueueConnection,
  ) {
    super();
  }

  async count(): Promise<number> {
    const [undelivered] = await this.database.query<{ count: number }>(COUNT_UNDELIVERED);
    let count = undelivered?.count ?? 0;
    for (let position = ''; ;) {
      const page = await this.database.query<PageRow>(PAGE, [position, COUNTED_AT_ONCE]);
      count += (await this.strays(page, STILL_OPEN)).length;
      position = page.at(-1)?.id ?? '';
      if (page.length < COUNTED_AT_ONCE) return count;
    }
  }

  async findNext(limit: number): Promise<StrayMessage[]> {
    const [outbox] = await this.database.query<{ is_long: boolean }>(IS_OUTBOX_LONG);
    if (outbox?.is_long === true) return [];
    const [walk] = await this.database.query<{ position: string }>('SELECT position FROM sluice.reconciler');
    const page = await this.database.query<PageRow>(PAGE, [walk?.position ?? '', limit]);
    const found = await this.strays(
      page.filter(({ is_due }) => is_due),
      STILL_DUE,
    );
    const gone = found.some(({ job }) => job === undefined);
    // All in one reading: no index leads to the events of a job.
    const events = gone ? await this.allEvents() : null;
    const strays = found.map(({ message, job }) => {
      const { id, retries, job_id: jobId } = message;
      const end = job === undefined ? (events?.get(jobId) ?? GONE) : job.ended === null ? GONE : job.end(message);
      return { id, retries, jobId, endedElsewhere: endByOthers(end) };
    });
    const count = strays.filter(({ endedElsewhere }) => endedElsewhere === null).length;
    const position = page.length < limit ? '' : (page.at(-1)?.id ?? '');
    await this.database.query(CONTINUE, [position, count]);
    return strays;
  }

  async requeue(strays: readonly StrayMessage[]): Promise<void> {
    for (let start = 0; start < strays.length; start += REQUEUED_AT_ONCE) {
      const some = strays.slice(start, start + REQUEUED_AT_ONCE);
      await this.removeDead(some.map(({ jobId }) => jobId));
      await this.database.query(insertEntriesFor('$1'), [some.map(({ id }) => id)]);
    }
  }

  /**
   * While a dead job exists, a new one with its id is ignored. The event keeps the end of the dead job from being taken
   * for that of the new one.
   */
  private async removeDead(jobIds: readonly string[]): Promise<void> {
    const live = await this.liveJobs(jobIds, await storedJobs(this.connection, jobIds));
    const dead = jobIds.filter((id) => !live.has(id));
    for (const [shard, ids] of this.connection.byShard(dead)) {
      const events = shard.key('events');
      await shard.ask((pipeline) =>
        ids.reduce(
          (all, id) => all.xadd(events, 'MAXLEN', '~', MAX_EVENTS, '*', 'event', 'added', 'jobId', id),
          pipeline,
        ),
      );
      await removeTraces(shard, ids);
    }
  }

  /** Those of these jobs that a worker will take or has: they have not ended, and are where workers find them. */
  private liveJobs(ids: readonly string[], jobs: ReadonlyMap<string, StoredJob>): Promise<Set<string>> {
    return findableJobs(
      this.connection,
      ids.filter((id) => jobs.get(id)?.ended === null),
    );
  }

  /** The last event of each job, of all shards. */
  private async allEvents() {
    const events = new Map<string, JobEndRow>();
    for (const shard of this.connection.shards) {
      const { last } = await lastEvents(shard, ['added', 'completed', 'failed'], '-');
      for (const [jobId, event] of last) events.set(jobId, event);
    }
    return events;
  }

  /**
   * Messages of these that nothing will deliver. No snapshot contains both messages and jobs, so both are looked at
   * twice: a message that was on its way at first has a job, or is settled, at the second time.
   * @param still keeps those that are still open, unclaimed and not in the outbox
   */
  private async strays(messages: readonly OpenMessageRow[], still: string): Promise<Found[]> {
    let found: Found[] = messages.map((message) => ({ message, job: undefined }));
    for (let look = 0; look < 2 && found.length > 0; look++) {
      const ids = found.map(({ message }) => message.job_id);
      const jobs = await storedJobs(this.connection, ids);
      const live = await this.liveJobs(ids, jobs);
      const jobless = found.filter(({ message }) => !live.has(message.job_id));
      const rows = await this.database.query<OpenMessageRow>(still, [
        jobless.map(({ message }) => message.id),
        jobless.map(({ message }) => message.retries),
        this.connection.queueName,
      ]);
      found = rows.map((message) => ({ message, job: jobs.get(message.job_id) }));
    }
    return found;
  }
}
