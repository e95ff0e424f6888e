import { Batcher, type BatchObserver } from '#platform/batcher.js';
import type { Database } from '#platform/database/database.js';
import { asUnavailable, isContention } from '#platform/database/errors.js';
import { Deliveries, type ClaimTerms, type Job, type JobEnd } from '../../application/deliveries.js';
import type { Message } from '../../domain/message.js';
import { CLAIM, FOLLOW, SETTLE } from './attempts.sql.js';
import { toMessage, type MessageRow } from './message.schema.js';

const RUNS_ALONE = `
  UPDATE sluice.messages
  SET claim_alone = true, claim_expires_at = clock_timestamp() + $3 * interval '1 millisecond'
  WHERE id = $1 AND claim = $2 RETURNING id`;

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
      ends.map(({ run }) => run?.startedAt ?? null),
      ends.map(({ run }) => run?.endedAt ?? null),
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
        ends.map(({ claimed }) => claimed.state.updatedAt),
      ])
      .catch((error: unknown) => {
        // Alone and still locked out: the worker is to tell it again, not to forget it.
        throw ends.length === 1 ? asUnavailable(error, isContention) : error;
      });
    const settled = new Set<string | undefined>(rows.map(({ token }) => token));
    return ends.map(({ claimed }) => settled.has(claimed.state.claim?.token));
  }
}
