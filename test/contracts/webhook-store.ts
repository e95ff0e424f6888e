import { UuidV7Ids } from '#kernel/ids.js';
import { PostgresEndpointDeliveries } from '#webhooks/adapters/postgres/postgres-endpoint-deliveries.js';
import type { Available, Availability } from '#messages/application/delivering/availability.js';
import type {
  AbandonReason,
  DeliveryResult,
  EndpointDeliveries,
  LeasedDelivery,
} from '#webhooks/application/endpoint-deliveries.js';
import type { Message, MessageState } from '#messages/domain/message.js';
import { aMessage, anAccountId, FIRST_PAGE, SENT_AT } from '../support/messages.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

const ids = new UuidV7Ids();
const LEASE_MS = 60_000;

/** The URL of every endpoint at first. */
export const URL = 'https://example.com/';

/** A store with accounts, endpoints and messages for them. */
export class WebhookStore {
  private constructor(
    readonly store: PostgresStore,
    readonly process: StoreProcess,
    readonly deliveries: EndpointDeliveries,
    /** Of another process. */
    readonly other: EndpointDeliveries,
    readonly announced: (readonly Available[] | 'all')[],
  ) {}

  static async open(): Promise<WebhookStore> {
    const store = await PostgresStore.open();
    const announced: (readonly Available[] | 'all')[] = [];
    const availability = { announce: (names: readonly Available[]) => announced.push(names) };
    const open = ({ database, reads }: StoreProcess) =>
      new PostgresEndpointDeliveries(database, reads, availability as unknown as Availability);
    const process = await store.process();
    return new WebhookStore(store, process, open(process), open(await store.process()), announced);
  }

  async account(): Promise<string> {
    const id = anAccountId();
    await this.store.sql(`INSERT INTO sluice.accounts VALUES ($1, 'Test', 'pro', 1, 1, 0, now())`, [id]);
    return id;
  }

  async endpoint(accountId: string): Promise<string> {
    const id = ids.next('ep', SENT_AT);
    await this.store.sql(
      `INSERT INTO sluice.endpoints (id, account_id, url, description, rate_limit_per_second, enabled, created_at, secrets)
       VALUES ($1, $2, $3, '', 0, true, now(), '[]')`,
      [id, accountId, URL],
    );
    return id;
  }

  async enable(endpoint: string, enabled: boolean): Promise<void> {
    await this.store.sql(
      `UPDATE sluice.endpoints SET enabled = $2, disabled_at = CASE WHEN NOT $2 THEN now() END,
         disabled_reason = CASE WHEN NOT $2 THEN 'by_account' END WHERE id = $1`,
      [endpoint, enabled],
    );
  }

  async choose(endpoint: string, types: readonly string[]): Promise<void> {
    await this.store.sql('UPDATE sluice.endpoints SET types = $2 WHERE id = $1', [endpoint, types]);
  }

  /** Ends what waits for an endpoint in vain. @returns how many deliveries */
  async abandon(endpoint: string, reason: AbandonReason): Promise<number> {
    let count = 0;
    for (let after: string | null = ''; after !== null;) {
      const { abandoned, last } = await this.deliveries.abandon(endpoint, reason, after);
      count += abandoned;
      after = last;
    }
    return count;
  }

  /** Does something while the account has only these endpoints enabled. */
  async onlyWith<T>(accountId: string, endpoints: readonly string[], work: () => Promise<T>): Promise<T> {
    const all = 'SELECT id, enabled FROM sluice.endpoints WHERE account_id = $1';
    const before = await this.store.sql<{ id: string; enabled: boolean }>(all, [accountId]);
    const others = before.filter(({ id, enabled }) => enabled !== endpoints.includes(id));
    for (const { id, enabled } of others) await this.enable(id, !enabled);
    const result = await work();
    for (const { id, enabled } of others) await this.enable(id, enabled);
    return result;
  }

  /** An accepted message for these endpoints. */
  async send(accountId: string, endpoints: readonly string[], state: Partial<MessageState> = {}): Promise<Message> {
    const message = aMessage({ accountId, delivery: 'webhooks', ...state });
    await this.onlyWith(accountId, endpoints, () => this.process.messages.add([message], null));
    return message;
  }

  /** As a worker does that has places for some deliveries to each of these endpoints. */
  async lease(endpoints: readonly string[], places = 10, by = this.deliveries): Promise<LeasedDelivery[]> {
    await by.due(1);
    return by.lease(new Map(endpoints.map((id) => [id, places])), LEASE_MS);
  }

  /** The only delivery that may be made to an endpoint. */
  async leaseOne(endpoint: string): Promise<LeasedDelivery> {
    const [leased, ...others] = await this.lease([endpoint]);
    if (leased === undefined || others.length > 0) throw new Error('Not one delivery could be made.');
    return leased;
  }

  /** The worker that has leased deliveries to an endpoint is silent for too long. */
  async expire(endpoint: string): Promise<void> {
    await this.store.sql(
      `UPDATE sluice.endpoint_deliveries SET due_at = now() - interval '1 second' WHERE endpoint_id = $1 AND token IS NOT NULL`,
      [endpoint],
    );
  }

  /** Makes the next delivery to an endpoint. */
  async make(endpoint: string, outcome: DeliveryResult['outcome']): Promise<void> {
    await this.deliveries.settle(resultOf(await this.leaseOne(endpoint), outcome));
  }

  /** What the account of a message sees of it. */
  async see({ id, state }: Message) {
    const found = await this.process.messages.find(state.accountId, id);
    const attempts = (await this.process.messages.attempts(state.accountId, id)) ?? [];
    return {
      status: found?.state.status,
      attempts: found?.state.attempts,
      failureReason: found?.state.failureReason,
      made: attempts.map(({ outcome }) => outcome),
    };
  }

  /** The messages that an endpoint has missed, as an account sees them. */
  async missed(accountId: string, endpoint: string): Promise<string[]> {
    const page = { ...FIRST_PAGE, limit: 10, status: 'failed' as const, endpointId: endpoint };
    return (await this.process.messages.list(accountId, page)).messages.map(({ id }) => id);
  }

  /** All that is stored of deliveries, messages and attempts. */
  everything(): Promise<object[]> {
    return this.store.sql(
      `SELECT to_jsonb(d) AS stored FROM sluice.endpoint_deliveries d
       UNION ALL SELECT to_jsonb(m) FROM sluice.messages m
       UNION ALL SELECT to_jsonb(a) FROM sluice.attempts a ORDER BY 1`,
    );
  }

  async reset(): Promise<void> {
    this.announced.length = 0;
    await this.store.reset();
    await this.store.sql('DELETE FROM sluice.endpoint_deliveries; DELETE FROM sluice.ended_endpoints');
  }

  close(): Promise<void> {
    return this.store.close();
  }
}

/** How an attempt ended whose next one, if any, may start at once. A failure is remembered for a day. */
export function resultOf(delivery: LeasedDelivery, outcome: DeliveryResult['outcome'], retryMs = 0): DeliveryResult {
  const failed = { error: 'refused', responseStatus: 500, responseBody: 'no' };
  const delivered = { error: null, responseStatus: 200, responseBody: 'yes' };
  return {
    delivery,
    outcome,
    retryMs,
    forgottenMs: 86_400_000,
    revision: 0,
    ...(outcome === 'delivered' ? delivered : failed),
  };
}
