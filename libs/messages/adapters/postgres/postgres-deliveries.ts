import { Batcher, type BatchObserver } from '#platform/batcher.js';
import type { Database } from '#platform/database/database.js';
import { asUnavailable, isContention } from '#platform/database/faults.js';
import { Deliveries, type ClaimTerms, type Job, type JobEnd } from '../../application/deliveries.js';
import type { Message } from '../../domain/message.js';
import { TRANSITIONS } from '../../domain/message-status.js';
import { toMessage, type MessageRow } from './message.schema.js';

const { startProcessing, takeOver, deliver, fail } = TRANSITIONS;

// What begins is counted here as `Message.startProcessing` and `Message.takeOver` count it; a test holds both together.
const CLAIM = `
  UPDATE sluice.messages m
  SET status = '${startProcessing.to}', claim = t.token, claim_alone = false,
      claim_expires_at = clock_timestamp() + t.lease_ms * interval '1 millisecond',
      attempts = m.attempts + 1,
      crashes = m.crashes + (m.status = '${takeOver.from}')::int,
      lone_crashes = m.lone_crashes + (m.status = '${takeOver.from}' AND m.claim_alone)::int,
      updated_at = clock_timestamp()
  FROM unnest($1::text[], $2::int[], $3::uuid[], $4::int[]) AS t (id, retries, token, lease_ms)
  WHERE m.id = t.id AND m.retries = t.retries AND m.status IN ('${startProcessing.from}', '${takeOver.from}')
  RETURNING m.id, m.account_id, m.status, m.created_at, m.updated_at, m.attempts, m.failures, m.crashes,
            m.lone_crashes, m.retries, m.failure_reason, m.claim, m.claim_expires_at, m.claim_alone,
            m.traceparent, m.deliver_at`;

const RUNS_ALONE = `
  UPDATE sluice.messages
  SET claim_alone = true, claim_expires_at = clock_timestamp() + $3 * interval '1 millisecond'
  WHERE id = $1 AND claim = $2 RETURNING id`;

// An end whose answer was lost is told again. Each claim counts an attempt, so the count tells that it was stored.
const SETTLE = `
  UPDATE sluice.messages m
  SET status = t.status, failures = t.failures, failure_reason = t.failure_reason, updated_at = clock_timestamp(),
      claim = NULL, claim_expires_at = NULL, claim_alone = false
  FROM unnest($1::text[], $2::uuid[], $3::int[], $4::int[], $5::text[], $6::int[], $7::text[])
    AS t (id, token, retries, attempts, status, failures, failure_reason)
  WHERE m.id = t.id
    AND (m.claim = t.token
      OR m.claim IS NULL AND (m.retries, m.attempts, m.status) = (t.retries, t.attempts, t.status))
  RETURNING t.token`;

// Locked in one order, since several processes may hear of the same jobs at once.
const FOLLOW = `
  WITH t AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::text[]) AS t (id, retries, attempts, failed_reason)
  ), free AS (
    SELECT m.id FROM sluice.messages m JOIN t ON m.id = t.id AND m.retries = t.retries
    WHERE m.status = '${startProcessing.from}'
       OR m.status = '${takeOver.from}' AND m.claim_expires_at < clock_timestamp()
    ORDER BY m.id FOR UPDATE OF m
  )
  UPDATE sluice.messages m
  SET status = CASE WHEN t.failed_reason IS NULL THEN '${deliver.to}' ELSE '${fail.to}' END,
      attempts = m.attempts + t.attempts,
      failures = m.failures + t.attempts - (t.failed_reason IS NULL)::int,
      crashes = m.crashes + (m.status = '${takeOver.from}')::int,
      lone_crashes = m.lone_crashes + (m.status = '${takeOver.from}' AND m.claim_alone)::int,
      failure_reason = t.failed_reason, updated_at = clock_timestamp(),
      claim = NULL, claim_expires_at = NULL, claim_alone = false
  FROM t JOIN free USING (id)
  WHERE m.id = t.id
  RETURNING m.id`;

interface Claiming {
  readonly job: Job;
  readonly terms: ClaimTerms;
}

interface Settling {
  readonly claimed: Message;
  readonly ended: Message;
}

/** Said to a job whose message another one of the same batch has claimed: it takes over from that one. */
const OVERTAKEN = Symbol('overtaken');

// One at a time: two of one process that overlap could only wait for each other's rows.
const LIMITS = { maxItems: 500, maxWaiting: 100_000 };

/** Claims and ends travel in batches, like what is accepted: one commit serves all that wait. */
export class PostgresDeliveries extends Deliveries {
  private readonly claims: Batcher<Claiming, Message | null | typeof OVERTAKEN>;
  private readonly ends: Batcher<Settling, boolean>;

  constructor(
    private readonly database: Database,
    observer?: (batches: 'claim' | 'settle') => BatchObserver,
  ) {
    super();
    this.claims = new Batcher((claims) => this.claimAll(claims), { ...LIMITS, observer: observer?.('claim') });
    this.ends = new Batcher((ends) => this.settleAll(ends), { ...LIMITS, observer: observer?.('settle') });
  }

  async claim(job: Job, terms: ClaimTerms): Promise<Message | null> {
    const claimed = await this.claims.submit({ job, terms });
    return claimed === OVERTAKEN ? this.claim(job, terms) : claimed;
  }

  async runsAlone({ state }: Message, leaseMs: number): Promise<boolean> {
    const rows = await this.database.query(RUNS_ALONE, [state.id, state.claim?.token, leaseMs]);
    return rows.length > 0;
  }

  settle(claimed: Message, ended: Message): Promise<boolean> {
    return this.ends.submit({ claimed, ended });
  }

  async follow(ends: readonly JobEnd[]): Promise<number> {
    if (ends.length === 0) return 0;
    const rows = await this.database.query(FOLLOW, [
      ends.map(({ id }) => id),
      ends.map(({ retries }) => retries),
      ends.map(({ attempts }) => attempts),
      ends.map(({ failedReason }) => failedReason),
    ]);
    return rows.length;
  }

  private async claimAll(claims: Claiming[]): Promise<(Message | null | typeof OVERTAKEN)[]> {
    const rows = await this.database.prepared<Omit<MessageRow, 'body'>>('claim', CLAIM, [
      claims.map(({ job }) => job.id),
      claims.map(({ job }) => job.retries),
      claims.map(({ terms }) => terms.token),
      claims.map(({ terms }) => terms.leaseMs),
    ]);
    // By token, not by id: an UPDATE changes a row once, so of two jobs for one message in a batch only one has it.
    const byToken = new Map(rows.map((row) => [row.claim, row]));
    const claimed = new Set(rows.map(({ id, retries }) => `${id}.${retries}`));
    return claims.map(({ job, terms }) => {
      const row = byToken.get(terms.token);
      if (row !== undefined) return toMessage({ ...row, body: job.message });
      return claimed.has(`${job.id}.${job.retries}`) ? OVERTAKEN : null;
    });
  }

  private async settleAll(ends: Settling[]): Promise<boolean[]> {
    const rows = await this.database
      .prepared<{ token: string }>('settle', SETTLE, [
        ends.map(({ claimed }) => claimed.id),
        ends.map(({ claimed }) => claimed.state.claim?.token),
        ends.map(({ claimed }) => claimed.state.retries),
        ends.map(({ claimed }) => claimed.state.attempts),
        ends.map(({ ended }) => ended.state.status),
        ends.map(({ ended }) => ended.state.failures),
        ends.map(({ ended }) => ended.state.failureReason),
      ])
      .catch((error: unknown) => {
        // Alone and still locked out: the worker is to tell it again, not to forget it.
        throw ends.length === 1 ? asUnavailable(error, isContention) : error;
      });
    const settled = new Set<string | undefined>(rows.map(({ token }) => token));
    return ends.map(({ claimed }) => settled.has(claimed.state.claim?.token));
  }
}
