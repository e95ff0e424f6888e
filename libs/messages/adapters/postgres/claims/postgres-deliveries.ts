import { Batcher } from '#platform/concurrency/batcher.js';
import { withTimeout } from '#kernel/timeout.js';
import type { Database } from '#platform/database/database.js';
import { asUnavailable, isContention } from '#platform/database/errors.js';
import type { BatchMetrics } from '#platform/observability/batch-metrics.js';
import {
  Deliveries,
  type ClaimTerms,
  type Job,
  type JobEnd,
  type NotDue,
} from '../../../application/delivering/deliveries.js';
import type { Message } from '../../../domain/message.js';
import { CLAIM, RENEW_CLAIM_ALONE } from './claim.sql.js';
import { EXCUSE } from './excuse.sql.js';
import { FOLLOW } from './follow.sql.js';
import { type StateRow, withContent } from '../message-row.js';
import type { ReleasedRow, Releases } from '../order/releases.js';
import { SETTLE } from './settle.sql.js';

interface Claiming {
  readonly job: Job;
  readonly terms: ClaimTerms;
}

interface Settling {
  readonly claimed: Message;
  readonly ended: Message;
}

interface Settled {
  readonly settled: boolean;
  /** Resolves when what the batch has released is in the queue. */
  readonly released: Promise<void>;
}

/**
 * A claimed message, without the columns that its job carries, or the remaining wait of a message that was not claimed.
 */
interface ClaimRow extends StateRow {
  readonly token: string | null;
  readonly wait_ms: number | null;
}

/** The result for a job whose message another job of the same batch has claimed: it claims again, to take over. */
const OVERTAKEN = Symbol('overtaken');

// One at a time: concurrent batches of one process could only wait for each other's rows.
const LIMITS = { maxItems: 500, maxWaiting: 100_000 };

/** A batch costs as much as some 15 of its messages. It waits this long for the messages of handlers that still run. */
const SPACING_MS = 5;
/** With this many messages, a batch does not wait. */
const ENOUGH = 32;
/** While a worker has fewer messages, it waits for one that it has released instead of taking another. */
const FEW = 8;
/** It waits no longer. */
const RELEASING_MS = 100;

/** Claims and ends are stored in batches: one commit for all that wait. */
export class PostgresDeliveries extends Deliveries {
  private readonly claims: Batcher<Claiming, Message | NotDue | null | typeof OVERTAKEN>;
  private readonly ends: Batcher<Settling, Settled>;
  /** The tokens of claimed messages that are not settled yet. */
  private readonly held = new Set<string | undefined>();

  constructor(
    private readonly database: Database,
    private readonly releases: Pick<Releases, 'start'>,
    metrics?: BatchMetrics,
  ) {
    super();
    const expectsMore = (waiting: number) => waiting < ENOUGH && this.held.size > 0;
    const limits = { ...LIMITS, spacing: { ms: SPACING_MS, expectsMore } };
    this.claims = new Batcher((claims) => this.claimAll(claims), { ...limits, observer: metrics?.observer('claim') });
    this.ends = new Batcher((ends) => this.settleAll(ends), { ...limits, observer: metrics?.observer('settle') });
  }

  async claim(job: Job, terms: ClaimTerms): Promise<Message | NotDue | null> {
    const claimed = await this.claims.submit({ job, terms });
    if (claimed === OVERTAKEN) return this.claim(job, terms);
    if (claimed !== null && !('dueInMs' in claimed)) this.held.add(terms.token);
    return claimed;
  }

  async runsAlone({ state }: Message, leaseMs: number): Promise<boolean> {
    // Nothing else runs that could settle together with it.
    this.held.delete(state.claim?.token);
    const rows = await this.database.query(RENEW_CLAIM_ALONE, [state.id, state.claim?.token, leaseMs]);
    return rows.length > 0;
  }

  async settle(claimed: Message, ended: Message): Promise<boolean> {
    this.held.delete(claimed.state.claim?.token);
    const { settled, released } = await this.ends.submit({ claimed, ended });
    // The job of the next message with the key is then there when the worker completes this one and takes another.
    if (claimed.state.orderingKey !== null && this.hasFew()) {
      await withTimeout(released, RELEASING_MS, () => undefined);
    }
    return settled;
  }

  private hasFew(): boolean {
    return this.held.size < FEW;
  }

  async excuse({ id, state }: Message): Promise<void> {
    await this.database.query(EXCUSE, [id, state.retries, state.attempts]);
  }

  async follow(ends: readonly JobEnd[]): Promise<number> {
    if (ends.length === 0) return 0;
    const rows = await this.database.query<ReleasedRow & { id: string | null }>(FOLLOW, [
      ends.map(({ id }) => id),
      ends.map(({ retries }) => retries),
      ends.map(({ attempts }) => attempts),
      ends.map(({ failedReason }) => failedReason),
      ends.map(({ run }) => run?.startedAt ?? null),
      ends.map(({ run }) => run?.endedAt ?? null),
    ]);
    void this.releases.start(rows);
    return rows.filter(({ id }) => id !== null).length;
  }

  private async claimAll(claims: Claiming[]): Promise<(Message | NotDue | null | typeof OVERTAKEN)[]> {
    const ids = claims.map(({ job }) => job.id);
    const { name, text } = CLAIM.for(ids);
    const rows = await this.database
      .prepared<ClaimRow>(name, text, [
        ids,
        claims.map(({ job }) => job.retries),
        claims.map(({ terms }) => terms.token),
        claims.map(({ terms }) => terms.leaseMs),
      ])
      .catch(retriedWhenAlone(claims));
    // By token, not by id: an UPDATE changes a row once, so only one of two jobs of a message in a batch gets it.
    const byToken = new Map(rows.map((row) => [row.token ?? row.claim, row]));
    const claimed = new Set(rows.map(({ id, retries }) => `${id}.${retries}`));
    return claims.map(({ job, terms }) => {
      const row = byToken.get(terms.token);
      if (row === undefined) return claimed.has(`${job.id}.${job.retries}`) ? OVERTAKEN : null;
      return row.wait_ms === null ? withContent(row, job.content) : { dueInMs: row.wait_ms };
    });
  }

  private async settleAll(ends: Settling[]): Promise<Settled[]> {
    // Rows are locked in the order of their ids, as by claims.
    const sorted = ends.toSorted((one, other) => (one.claimed.id < other.claimed.id ? -1 : 1));
    const ids = sorted.map(({ claimed }) => claimed.id);
    const { name, text } = SETTLE.for(ids);
    const rows = await this.database
      .prepared<ReleasedRow & { token: string | null }>(name, text, [
        ids,
        sorted.map(({ claimed }) => claimed.state.claim?.token),
        sorted.map(({ claimed }) => claimed.state.retries),
        sorted.map(({ claimed }) => claimed.state.attempts),
        sorted.map(({ ended }) => ended.state.status),
        sorted.map(({ ended }) => ended.state.failures),
        sorted.map(({ ended }) => ended.state.failureReason),
        sorted.map(({ claimed }) => claimed.state.updatedAt),
        sorted.map(({ ended }) => ended.waitMs),
      ])
      .catch(retriedWhenAlone(ends));
    const released = this.releases.start(rows, this.hasFew());
    const settled = new Set<string | null | undefined>(rows.map(({ token }) => token));
    return ends.map(({ claimed }) => ({ settled: settled.has(claimed.state.claim?.token), released }));
  }
}

/** A batch is repeated one by one. What is alone and whose row stays locked is retried by the worker, not dropped. */
function retriedWhenAlone(batch: readonly unknown[]) {
  return (error: unknown): never => {
    throw batch.length === 1 ? asUnavailable(error, isContention) : error;
  };
}
