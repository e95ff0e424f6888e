import { isTypeId } from '#kernel/typeid.js';
import { Batcher } from '#platform/concurrency/batcher.js';
import type { Database } from '#platform/database/database.js';
import type { Reads } from '#platform/database/reads.js';
import type { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { SharedReads } from '#platform/shared-reads.js';
import {
  Leases,
  type Extended,
  type Lease,
  type Leased,
  type LeaseTerms,
} from '../../../application/delivering/leases.js';
import type { Availability } from '../../../application/delivering/availability.js';
import type { Message } from '../../../domain/message.js';
import {
  ACKNOWLEDGE,
  EXTEND,
  FIND_LEASED,
  IS_HALTED,
  LEASE,
  NEXT_IN,
  REJECT,
  WAS_ACKNOWLEDGED,
  WAS_REJECTED,
} from './lease.sql.js';
import { toMessage, type MessageRow } from '../message-row.js';

/** The leases that one request acknowledges. */
interface Ending {
  readonly accountId: string;
  readonly leases: readonly Lease[];
}

/** One of them, as the statements return it. */
type End = Lease & { readonly account_id: string };

// `maxBytes` bounds the leases of a batch, since the statement takes longer the more there are.
const LIMITS = { maxItems: 500, maxBytes: 2_000, sizeOf: ({ leases }: Ending) => leases.length, maxWaiting: 10_000 };

/** Statements of one request: each may find only messages without an attempt left, which fail instead. */
const MAX_ROUNDS = 10;

/** There is always one row, for its counts; its message is null when nothing is leased. */
interface LeaseRow extends Omit<MessageRow, 'id'> {
  id: string | null;
  available: number;
  considered: number;
  expired: number;
  released: number;
}

/** A message whose lease has ended, or an account of which another message was released. */
interface Ended {
  readonly id: string | null;
  readonly available: string | null;
}

const isLeased = (row: LeaseRow): row is LeaseRow & MessageRow => row.id !== null;
const lengthOf = (rows: LeaseRow[]) => rows.filter(isLeased).reduce((sum, { text }) => sum + text.length, 0);

export class PostgresLeases extends Leases {
  private readonly endings: Batcher<Ending, boolean[]>;
  private readonly shared = new SharedReads();

  /** @param leasing with asynchronous commit, on connections that nothing else uses */
  constructor(
    private readonly database: Database,
    private readonly leasing: Reads,
    private readonly policy: { readonly maxAttempts: number },
    private readonly availability: Pick<Availability, 'announce'>,
    metrics?: BatchMetrics,
  ) {
    super();
    const observer = metrics?.observer('acknowledge');
    this.endings = new Batcher((endings) => this.acknowledgeAll(endings), { ...LIMITS, observer });
  }

  async lease(accountId: string, { max, leaseMs }: LeaseTerms): Promise<Leased> {
    let expired = 0;
    for (let round = 1; ; round++) {
      const values = [accountId, max, leaseMs, this.policy.maxAttempts];
      const rows = await this.leasing.query<LeaseRow>(accountId, 'lease', LEASE, values, lengthOf);
      const [counts] = rows;
      const { available = 0, considered = 0 } = counts ?? {};
      expired += counts?.expired ?? 0;
      if ((counts?.released ?? 0) > 0) this.availability.announce([accountId]);
      const messages = rows.filter(isLeased).map(toMessage);
      const mayBeMore = available === max || considered < available;
      // Another round if everything that was found has failed instead.
      if (messages.length > 0 || !mayBeMore || round === MAX_ROUNDS) return { messages, mayBeMore, expired };
    }
  }

  async isHalted(accountId: string): Promise<boolean> {
    const [row] = await this.shared.read(accountId, () =>
      this.leasing.query<{ isHalted: boolean }>(accountId, 'halted', IS_HALTED, [accountId]),
    );
    return row?.isHalted ?? false;
  }

  async nextIn(accountId: string): Promise<number | null> {
    const [row] = await this.leasing.query<{ ms: number }>(accountId, 'next lease', NEXT_IN, [accountId]);
    return row?.ms ?? null;
  }

  acknowledge(accountId: string, leases: readonly Lease[]): Promise<boolean[]> {
    return this.endings.submit({ accountId, leases });
  }

  async find(accountId: string, lease: Lease): Promise<Message | null> {
    if (!isTypeId('msg', lease.id)) return null;
    const [row] = await this.database.query<MessageRow>(FIND_LEASED, valuesOf(accountId, lease));
    return row === undefined ? null : toMessage(row);
  }

  async reject({ id, state }: Message, { state: ended }: Message, delayMs: number): Promise<boolean> {
    const { accountId, claim, attempts, updatedAt } = state;
    const values = [
      ...[id, accountId, claim?.token, attempts],
      ...[ended.status, ended.failures, ended.failureReason, delayMs, updatedAt],
    ];
    const rows = await this.database.limited(id, () => this.database.query<Ended>(REJECT, values));
    return this.announceReleased(rows).length > 0;
  }

  async wasRejected(accountId: string, { id, attempt, token }: Lease): Promise<boolean> {
    if (!isTypeId('msg', id)) return false;
    return (await this.database.query(WAS_REJECTED, [id, accountId, attempt, token])).length > 0;
  }

  async extend(accountId: string, lease: Lease, leaseMs: number): Promise<Extended | null> {
    if (!isTypeId('msg', lease.id)) return null;
    const values = [...valuesOf(accountId, lease), leaseMs];
    const [extended] = await this.database.limited(lease.id, () => this.database.query<Extended>(EXTEND, values));
    return extended ?? null;
  }

  private async acknowledgeAll(endings: Ending[]): Promise<boolean[][]> {
    const ends = endings
      .flatMap(({ accountId, leases }) => leases.map((lease) => ({ ...lease, account_id: accountId })))
      .filter(({ id }) => isTypeId('msg', id));
    const { name, text } = ACKNOWLEDGE.for(ends.map(({ id }) => id));
    const ended = await this.database.prepared<End & Ended>(name, text, columnsOf(ends));
    const names = new Set(this.announceReleased(ended).map(nameOf));
    const others = ends.filter((end) => !names.has(nameOf(end)));
    if (others.length > 0) {
      const before = await this.database.prepared<End>('was acknowledged', WAS_ACKNOWLEDGED, columnsOf(others));
      for (const end of before) names.add(nameOf(end));
    }
    return endings.map(({ accountId, leases }) =>
      leases.map((lease) => names.has(nameOf({ ...lease, account_id: accountId }))),
    );
  }

  /** @returns the rows of ended leases */
  private announceReleased<Row extends Ended>(rows: readonly Row[]): Row[] {
    this.availability.announce(new Set(rows.flatMap(({ available }) => available ?? [])));
    return rows.filter(({ id }) => id !== null);
  }
}

function valuesOf(accountId: string, { id, token, attempt }: Lease): unknown[] {
  return [id, accountId, token, attempt];
}

function columnsOf(ends: readonly End[]): unknown[][] {
  return [
    ends.map(({ id }) => id),
    ends.map(({ account_id }) => account_id),
    ends.map(({ token }) => token),
    ends.map(({ attempt }) => attempt),
  ];
}

function nameOf({ account_id, id, token, attempt }: End): string {
  return `${account_id} ${id} ${token} ${attempt}`;
}
