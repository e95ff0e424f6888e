import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { Database } from '#platform/database/database.js';
import type { JobQueue } from '../../application/job-queue.js';
import { JOB_ID, SHOULD_HAVE_JOB } from './open-messages.sql.js';
import { OPEN_STATUSES } from '#messages/index.js';

const JOBS_AT_ONCE = 1_000;
const ENTRIES_AT_ONCE = 500;

// In the order of the index by status.
const OPEN_MESSAGES = `
  SELECT m.id, ${JOB_ID} AS "jobId" FROM sluice.messages m
  WHERE m.account_id >= $1 AND m.account_id <= $1 AND m.status = $2 AND m.id > $3 AND ${SHOULD_HAVE_JOB}
  ORDER BY m.account_id, m.id LIMIT ${JOBS_AT_ONCE}`;

/** Removes the jobs of an account's open messages, so that workers get no more of them. */
export class ForgetJobs implements ForgetsAccounts {
  constructor(
    private readonly database: Database,
    private readonly queue: Pick<JobQueue, 'purge'>,
  ) {}

  async *forget(accountId: string): AsyncGenerator<void, boolean> {
    for (const status of OPEN_STATUSES) {
      for (let after: string | undefined = ''; after !== undefined; yield) {
        const values: unknown[] = [accountId, status, after];
        const jobs = await this.database.query<{ id: string; jobId: string }>(OPEN_MESSAGES, values);
        await this.queue.purge(jobs.map(({ jobId }) => jobId));
        after = jobs.at(-1)?.id;
      }
    }
    return true;
  }
}

const GONE = `NOT EXISTS (SELECT FROM sluice.messages m WHERE m.id = message_id)`;

// An entry may have messages of several accounts.
const SHORTEN_ENTRIES = `
  WITH page AS MATERIALIZED (
    SELECT id, message_ids FROM sluice.outbox WHERE id > $1::bigint ORDER BY id LIMIT ${ENTRIES_AT_ONCE}
  ), lasting AS MATERIALIZED (
    SELECT id, cardinality(message_ids) AS before, ARRAY(
      SELECT message_id FROM unnest(message_ids) AS t (message_id) WHERE NOT (${GONE})
    ) AS ids FROM page
  ), deleted AS (
    DELETE FROM sluice.outbox o USING lasting l WHERE o.id = l.id AND l.ids = '{}'
  ), shortened AS (
    UPDATE sluice.outbox o SET message_ids = l.ids
    FROM lasting l WHERE o.id = l.id AND l.ids <> '{}' AND cardinality(l.ids) < l.before
  )
  SELECT max(id)::text AS last FROM page HAVING count(*) = ${ENTRIES_AT_ONCE}`;

const FIND_GONE = `
  SELECT job_id AS id FROM unnest($1::text[], $2::text[]) AS t (job_id, message_id) WHERE ${GONE}`;

/** What begins like a message's id. */
const OF_MESSAGE = /^(msg_[0-9a-z]{26})(\.\d+)?$/;

/** Removes what the outbox and the queue still have of messages that are gone. */
export class ForgetTraces implements ForgetsAccounts {
  constructor(
    private readonly database: Database,
    private readonly queue: Pick<JobQueue, 'mentionedJobs' | 'purge' | 'removeEvents'>,
  ) {}

  async *forget(): AsyncGenerator<void, boolean> {
    // Others are added meanwhile: a page that is not full is the last one.
    for (let last: string | undefined = '0'; last !== undefined; yield) {
      const rows: { last: string }[] = await this.database.query(SHORTEN_ENTRIES, [last]);
      last = rows[0]?.last;
    }
    let isComplete = true;
    for await (const mentioned of this.queue.mentionedJobs()) {
      const gone = await this.findGone(mentioned);
      if (gone.length > 0) {
        const left = await this.queue.purge(gone);
        await this.queue.removeEvents(gone);
        isComplete &&= left === 0;
      }
      yield;
    }
    return isComplete;
  }

  private async findGone(jobIds: readonly string[]): Promise<string[]> {
    const jobs = jobIds.flatMap((id) => {
      const [, messageId] = OF_MESSAGE.exec(id) ?? [];
      return messageId === undefined ? [] : [{ id, messageId }];
    });
    if (jobs.length === 0) return [];
    const values = [jobs.map(({ id }) => id), jobs.map(({ messageId }) => messageId)];
    return (await this.database.query<{ id: string }>(FIND_GONE, values)).map(({ id }) => id);
  }
}
