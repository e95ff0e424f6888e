import { randomUUID } from 'node:crypto';
import { lowestId } from '#kernel/ids.js';
import { Batcher } from '#platform/batcher.js';
import type { Database } from '#platform/database/database.js';
import { asUnavailable, isContention } from '#platform/database/errors.js';
import type { Reads } from '#platform/database/reads.js';
import type { BatchMetrics } from '#platform/management/batch-metrics.js';
import {
  EndpointDeliveries,
  type DeliveryResult,
  type DueEndpoint,
  type LeasedDelivery,
} from '../../application/endpoint-deliveries.js';
import { TRANSITIONS } from '../../domain/message-status.js';
import {
  DUE_ENDPOINTS,
  END_MESSAGES,
  LEASE_DELIVERIES,
  LOCK_MESSAGES,
  REPLAY,
  SETTLE_DELIVERIES,
} from './endpoint-deliveries.sql.js';

// One at a time: concurrent batches of one process could only wait for each other's messages.
const LIMITS = { maxItems: 500, maxWaiting: 100_000 };
/** A batch costs as much as some of its items: one that just ended is not followed by a small one at once. */
const SPACING_MS = 5;
const ENOUGH = 50;
/** Messages that one statement looks at to replay them. */
const REPLAYED_AT_ONCE = 500;
const REPLAYED = [TRANSITIONS.fail.to, TRANSITIONS.deliver.to];

interface Replayed {
  count: number;
  /** The last message that was looked at; null when there is none. */
  last: string | null;
}

export class PostgresEndpointDeliveries extends EndpointDeliveries {
  private readonly ends: Batcher<DeliveryResult, null>;

  constructor(
    private readonly database: Database,
    private readonly reads: Reads,
    metrics?: BatchMetrics,
  ) {
    super();
    this.ends = new Batcher((results) => this.settleAll(results), {
      ...LIMITS,
      spacing: { ms: SPACING_MS, expectsMore: (waiting) => waiting < ENOUGH },
      observer: metrics?.observer('settle_webhooks'),
    });
  }

  due(limit: number): Promise<DueEndpoint[]> {
    return this.database.prepared('due-endpoints', DUE_ENDPOINTS, [limit]);
  }

  async lease(places: ReadonlyMap<string, number>, leaseMs: number): Promise<LeasedDelivery[]> {
    const token = randomUUID();
    const values = [[...places.keys()], [...places.values()], token, leaseMs];
    const rows = await this.database.prepared<Omit<LeasedDelivery, 'token'>>('lease', LEASE_DELIVERIES, values);
    return rows.map((row) => ({ ...row, token }));
  }

  async replay(accountId: string, endpointId: string, since: Date, until: Date, max: number): Promise<number> {
    const end = lowestId('msg', until);
    let count = 0;
    for (const status of REPLAYED) {
      let next: string | null = lowestId('msg', since);
      while (next !== null && count < max) {
        const values: unknown[] = [accountId, next, end, REPLAYED_AT_ONCE, status, endpointId];
        const [row] = await this.reads.query<Replayed>(accountId, 'replay', REPLAY, values);
        count += row?.count ?? 0;
        next = row?.last == null ? null : `${row.last}0`;
      }
    }
    return count;
  }

  async settle(results: readonly DeliveryResult[]): Promise<void> {
    await Promise.all(results.map((result) => this.ends.submit(result)));
  }

  private async settleAll(results: DeliveryResult[]): Promise<null[]> {
    const column = <T>(read: (result: DeliveryResult) => T): T[] => results.map(read);
    const ids = [...new Set(column(({ delivery }) => delivery.messageId))];
    await this.database
      .transaction(async (client) => {
        await client.query({ name: 'lock-messages', text: LOCK_MESSAGES, values: [ids] });
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
          ],
        });
        await client.query({ name: 'end-messages', text: END_MESSAGES, values: [ids] });
      })
      .catch((error: unknown) => {
        // A single result whose message stays locked is stored later, not dropped.
        throw results.length === 1 ? asUnavailable(error, isContention) : error;
      });
    return results.map(() => null);
  }
}
