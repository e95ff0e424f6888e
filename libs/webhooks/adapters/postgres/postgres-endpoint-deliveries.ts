import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { lowestId } from '#kernel/ids.js';
import { Batcher } from '#platform/concurrency/batcher.js';
import type { Database } from '#platform/database/database.js';
import { asUnavailable, isContention } from '#platform/database/errors.js';
import type { Reads } from '#platform/database/reads.js';
import type { BatchMetrics } from '#platform/observability/batch-metrics.js';
import {
  EndpointDeliveries,
  type Abandoned,
  type AbandonReason,
  type DeliveryResult,
  type DueEndpoint,
  type LeasedDelivery,
  type ReplayTerms,
} from '../../application/endpoint-deliveries.js';
import { type Availability, type OnStarted, WEBHOOKS } from '#messages/index.js';
import { toContent } from '#messages/adapters/postgres/index.js';
import { ABANDON, FIND_IN_VAIN, LOCK_LINES } from './abandoned-deliveries.sql.js';
import {
  DUE_ENDPOINTS,
  END_MESSAGES,
  LEASE_DELIVERIES,
  LEAVE_LINES,
  LOCK_MESSAGES,
  MAKE_READY,
  NEXT_IN,
  PENDING_IN,
  PICK_DELIVERIES,
  SETTLE_DELIVERIES,
} from './endpoint-deliveries.sql.js';
import { FIND_MISSED, REPLAY, REPLAYED } from './replay.sql.js';

// One at a time: concurrent batches of one process could only wait for each other's messages.
const LIMITS = { maxItems: 500, maxWaiting: 100_000 };
/** A batch has a fixed cost, so a small one begins no sooner than this after the one before. */
const SPACING_MS = 5;
/** With this many items, a batch does not wait. */
const ENOUGH = 50;
/** Messages that one statement looks at to replay them. */
const REPLAYED_AT_ONCE = 500;
/** How many deliveries one statement makes ready or looks at to abandon them, which bounds how long their rows are locked. */
const READY_AT_ONCE = 1_000;
const ABANDONED_AT_ONCE = 500;

/** Those of these deliveries that are no longer to be made leave their lines. */
type LeaveLines = (messages: readonly string[], endpoints: readonly string[]) => Promise<void>;
type Change<T> = (client: pg.ClientBase, leaveLines: LeaveLines) => Promise<T>;

interface InVain extends Omit<Abandoned, 'abandoned'> {
  readonly waiting: string[];
}

interface Missed {
  missed: string[];
  /** The last message that was looked at; null when there is none. */
  last: string | null;
}

export class PostgresEndpointDeliveries extends EndpointDeliveries {
  private readonly ends: Batcher<DeliveryResult, null>;

  constructor(
    private readonly database: Database,
    private readonly reads: Reads,
    /** Announces deliveries that may be made. */
    private readonly availability: Availability,
    metrics?: BatchMetrics,
  ) {
    super();
    this.ends = new Batcher((results) => this.settleAll(results), {
      ...LIMITS,
      spacing: { ms: SPACING_MS, expectsMore: (waiting) => waiting < ENOUGH },
      observer: metrics?.observer('settle_webhooks'),
    });
  }

  async due(limit: number): Promise<DueEndpoint[]> {
    await this.database.prepared('make-ready', MAKE_READY, [READY_AT_ONCE]);
    return this.database.prepared('due-endpoints', DUE_ENDPOINTS, [limit]);
  }

  async nextIn(): Promise<number | null> {
    const [row] = await this.database.prepared<{ ms: number }>('next-delivery', NEXT_IN, []);
    return row?.ms ?? null;
  }

  async pendingIn(): Promise<number | null> {
    const [row] = await this.database.prepared<{ ms: number }>('pending-delivery', PENDING_IN, []);
    return row?.ms ?? null;
  }

  listen(listener: () => void): void {
    this.availability.listen((available) => {
      if (available === 'all' || [...available].includes(WEBHOOKS)) listener();
    });
  }

  async lease(places: ReadonlyMap<string, number>, leaseMs: number): Promise<LeasedDelivery[]> {
    const token = randomUUID();
    const rows = await this.transaction(async (client, leaveLines) => {
      const picked = await client.query<Pick<LeasedDelivery, 'messageId' | 'endpointId'>>({
        name: 'pick',
        text: PICK_DELIVERIES,
        values: [[...places.keys()], [...places.values()]],
      });
      if (picked.rows.length === 0) return [];
      const messages = picked.rows.map(({ messageId }) => messageId);
      const endpoints = picked.rows.map(({ endpointId }) => endpointId);
      await lock(client, messages);
      const leased = await client.query<Omit<LeasedDelivery, 'token' | 'content'>>({
        ...LEASE_DELIVERIES.for(messages),
        values: [messages, endpoints, token, leaseMs],
      });
      // The others are of messages that have ended.
      if (leased.rows.length < picked.rows.length) await leaveLines(messages, endpoints);
      return leased.rows;
    });
    return rows.map(
      ({ messageId, endpointId, accountId, endpointVersion, createdAt, traceparent, failures, ...columns }) => ({
        ...{ token, messageId, endpointId, accountId, endpointVersion, createdAt, traceparent, failures },
        content: toContent(columns),
      }),
    );
  }

  async replay(
    accountId: string,
    endpointId: string,
    { since, until, max, perSecond }: ReplayTerms,
    gone: AbortSignal,
    onStarted?: OnStarted,
  ): Promise<number> {
    const end = lowestId('msg', until);
    let count = 0;
    let next: string | null = lowestId('msg', since);
    while (next !== null && count < max && !gone.aborted) {
      const values: unknown[] = [accountId, next, end, REPLAYED_AT_ONCE, endpointId, ...REPLAYED];
      const [row] = await this.reads.query<Missed>(accountId, 'find-missed', FIND_MISSED, values);
      const started = await this.replayAll(row?.missed ?? [], [endpointId, count, perSecond]);
      if (started > 0) {
        onStarted?.(started);
        this.availability.announce([WEBHOOKS]);
      }
      count += started;
      next = row?.last == null ? null : `${row.last}0`;
    }
    return count;
  }

  /** @param values of REPLAY, after the messages */
  private async replayAll(ids: string[], values: readonly unknown[]): Promise<number> {
    if (ids.length === 0) return 0;
    return this.withLocked(ids, async (client) => {
      const { rows } = await client.query<{ message_id: string | null }>({
        ...{ name: 'replay', text: REPLAY, values: [ids, ...values] },
      });
      return rows.filter((row) => row.message_id !== null).length;
    });
  }

  async abandon(endpointId: string, reason: AbandonReason, after: string): Promise<Abandoned> {
    const page = [endpointId, after, ABANDONED_AT_ONCE];
    const [found] = await this.database.query<InVain>(FIND_IN_VAIN, page);
    const { waiting: ids, ...others } = found ?? { waiting: [], areMade: false, last: null };
    const abandon = async (client: pg.ClientBase, leaveLines: LeaveLines) => {
      await client.query({ name: 'lock-lines', text: LOCK_LINES, values: [ids, endpointId] });
      const { rows } = await client.query<{ abandoned: number }>({
        name: 'abandon',
        text: ABANDON,
        values: [endpointId, ids, reason],
      });
      await endMessages(client, ids);
      const endpoints = ids.map(() => endpointId);
      await leaveLines(ids, endpoints);
      return rows[0]?.abandoned ?? 0;
    };
    return { ...others, abandoned: ids.length > 0 ? await this.withLocked(ids, abandon) : 0 };
  }

  private withLocked<T>(ids: readonly string[], change: Change<T>): Promise<T> {
    return this.transaction(async (client, leaveLines) => {
      await lock(client, ids);
      return change(client, leaveLines);
    });
  }

  private transaction<T>(change: Change<T>): Promise<T> {
    return this.change(change).catch((error: unknown) => {
      throw asUnavailable(error, isContention);
    });
  }

  /** A transaction that may let deliveries leave their lines; what that has released is announced after its commit. */
  private async change<T>(change: Change<T>): Promise<T> {
    const available: string[] = [];
    const result = await this.database.transaction((client) =>
      change(client, async (messages, endpoints) => {
        const { rows } = await client.query<{ available: string }>({
          ...{ name: 'leave-lines', text: LEAVE_LINES, values: [messages, endpoints] },
        });
        available.push(...rows.map((row) => row.available));
      }),
    );
    if (available.length > 0) this.availability.announce(available);
    return result;
  }

  async settle(result: DeliveryResult): Promise<void> {
    await this.ends.submit(result);
  }

  private async settleAll(results: DeliveryResult[]): Promise<null[]> {
    const column = <T>(read: (result: DeliveryResult) => T): T[] => results.map(read);
    const ids = [...new Set(column(({ delivery }) => delivery.messageId))];
    await this.change(async (client, leaveLines) => {
      await lock(client, ids);
      await client.query({
        name: 'settle-deliveries',
        text: SETTLE_DELIVERIES,
        values: [
          column(({ delivery }) => delivery.messageId),
          column(({ delivery }) => delivery.endpointId),
          column(({ delivery }) => delivery.token),
          column(({ outcome }) => outcome),
          column(({ retryMs }) => retryMs),
          column(({ error }) => error),
          column(({ responseStatus }) => responseStatus),
          column(({ responseBody }) => responseBody),
          column(({ revision }) => revision),
          column(({ delivery }) => delivery.content.type),
          column(({ forgottenMs }) => forgottenMs),
        ],
      });
      await endMessages(client, ids);
      const ordered = results.filter(({ delivery }) => delivery.content.orderingKey !== null);
      if (ordered.length === 0) return;
      await leaveLines(
        ordered.map(({ delivery }) => delivery.messageId),
        ordered.map(({ delivery }) => delivery.endpointId),
      );
    }).catch((error: unknown) => {
      // A single result whose message stays locked is stored later, not dropped.
      throw results.length === 1 ? asUnavailable(error, isContention) : error;
    });
    return results.map(() => null);
  }
}

const lock = (client: pg.ClientBase, messages: readonly string[]) =>
  client.query({ ...LOCK_MESSAGES.for(messages), values: [messages] });

const endMessages = (client: pg.ClientBase, ids: readonly string[]) =>
  client.query({ ...END_MESSAGES.for(ids), values: [ids] });
