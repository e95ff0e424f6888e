import { PostgresLeases } from '#messages/adapters/postgres/leases/postgres-leases.js';
import type { DeliveryMode } from '#kernel/delivery-mode.js';
import type { Message } from '#messages/domain/message.js';
import type { LeasedDelivery } from '#webhooks/application/endpoint-deliveries.js';
import { aMessage, claimTerms, jobOf } from '../../support/messages.js';
import type { PostgresStore, StoreProcess } from '../postgres-store.js';
import { resultOf, WebhookStore } from '../webhook-store.js';

export type End = 'delivered' | 'retried' | 'failed';

/** An attempt that has begun. */
export interface Begun {
  readonly id: string;
  /** Where to: an endpoint, or the only target of the other modes. */
  readonly target: string;
}

/** A way of delivery, by which attempts begin and end as a test wants, and by nothing else. */
export interface Way {
  readonly store: PostgresStore;
  readonly process: StoreProcess;
  readonly accountId: string;
  readonly targets: readonly string[];
  aMessage(key: string | null, state?: Partial<Message['state']>): Message;
  /** Begins all attempts that may begin. */
  begin(): Promise<Begun[]>;
  end(begun: Begun, how: End): Promise<void>;
  /** Whoever makes the attempt is lost: it may be begun again. */
  lose(begun: Begun): Promise<void>;
}

export const WAYS = {
  handler: (webhooks: WebhookStore, accountId?: string) => toHandlers(webhooks, accountId),
  pull: (webhooks: WebhookStore, accountId?: string) => toConsumers(webhooks, accountId),
  webhooks: (webhooks: WebhookStore, accountId?: string) => toEndpoints(webhooks, accountId),
} satisfies Record<DeliveryMode, (webhooks: WebhookStore, accountId?: string) => Promise<Way>>;

async function common(webhooks: WebhookStore, delivery: DeliveryMode, ofAccount?: string) {
  const { store, process } = webhooks;
  const accountId = ofAccount ?? (await webhooks.account());
  return {
    ...{ store, process, accountId, targets: [delivery] as readonly string[] },
    aMessage: (orderingKey: string | null, state: Partial<Message['state']> = {}) =>
      aMessage({ accountId, delivery, orderingKey, ...state }),
  };
}

function known<Value>(values: ReadonlyMap<string, Value>, name: string): Value {
  const value = values.get(name);
  if (value === undefined) throw new Error(`${name} has not begun.`);
  return value;
}

function ended(message: Message, how: End): Message {
  const at = new Date();
  if (how === 'delivered') return message.deliver(at);
  return how === 'failed' ? message.fail('no', at) : message.requeue('no', at, at);
}

async function toHandlers(
  webhooks: WebhookStore,
  accountId?: string,
): Promise<Way & { readonly jobs: Map<string, Message> }> {
  const way = await common(webhooks, 'handler', accountId);
  const { deliveries, outbox } = way.process;
  /** A job whose id exists is not added again. */
  const jobs = new Map<string, Message>();
  const running = new Map<string, Message>();
  const relay = (messages: readonly Message[]) => {
    for (const message of messages) if (!jobs.has(message.jobId)) jobs.set(message.jobId, message);
    return Promise.resolve(new Set<string>());
  };
  return {
    ...way,
    jobs,
    begin: async () => {
      while ((await outbox.sweep(0, relay)) > 0);
      const begun: Begun[] = [];
      for (const [jobId, message] of jobs) {
        if (running.has(message.id)) continue;
        const claimed = await deliveries.claim(jobOf(message), claimTerms());
        if (claimed === null) jobs.delete(jobId);
        else if (!('dueInMs' in claimed)) {
          running.set(message.id, claimed);
          begun.push({ id: message.id, target: 'handler' });
        }
      }
      return begun;
    },
    end: async ({ id }, how) => {
      const claimed = known(running, id);
      if (!(await deliveries.settle(claimed, ended(claimed, how)))) throw new Error('The claim was lost.');
      running.delete(id);
      if (how !== 'retried') jobs.delete(claimed.jobId);
    },
    lose: ({ id }) => Promise.resolve(void running.delete(id)),
  };
}

async function toConsumers(webhooks: WebhookStore, ofAccount?: string): Promise<Way> {
  const way = await common(webhooks, 'pull', ofAccount);
  const { process, store, accountId } = way;
  const leases = new PostgresLeases(process.database, process.reads, { maxAttempts: 1_000 }, process.availability);
  const leased = new Map<string, Message>();
  return {
    ...way,
    begin: async () => {
      const found = await leases.lease(accountId, { max: 100, leaseMs: 60_000 });
      for (const message of found.messages) leased.set(message.id, message);
      return found.messages.map(({ id }) => ({ id, target: 'pull' }));
    },
    end: async ({ id }, how) => {
      const message = known(leased, id);
      const { claim, attempts } = message.state;
      const lease = { id, token: claim?.token ?? '', attempt: attempts };
      const hasEnded =
        how === 'delivered'
          ? await leases.acknowledge(accountId, [lease])
          : [await leases.reject(message, ended(message, how), 0)];
      if (hasEnded[0] !== true) throw new Error('The lease was lost.');
    },
    lose: async ({ id }) => {
      await store.sql(
        `UPDATE sluice.messages SET available_at = now() - interval '1 second',
           claim_expires_at = now() - interval '1 second' WHERE id = $1`,
        [id],
      );
    },
  };
}

async function toEndpoints(webhooks: WebhookStore, ofAccount?: string): Promise<Way> {
  const way = await common(webhooks, 'webhooks', ofAccount);
  const { store, accountId } = way;
  const targets = [await webhooks.endpoint(accountId), await webhooks.endpoint(accountId)].sort();
  const running = new Map<string, LeasedDelivery>();
  const nameOf = ({ id, target }: Begun) => `${target} ${id}`;
  return {
    ...way,
    targets,
    begin: async () => {
      const enabled = await store.sql<{ id: string }>('SELECT id FROM sluice.enabled_endpoints');
      const leased = await webhooks.lease(
        targets.filter((target) => enabled.some(({ id }) => id === target)),
        100,
      );
      return leased.map((delivery) => {
        const begun = { id: delivery.messageId, target: delivery.endpointId };
        running.set(nameOf(begun), delivery);
        return begun;
      });
    },
    end: (begun, how) => webhooks.deliveries.settle(resultOf(known(running, nameOf(begun)), how)),
    lose: async ({ id, target }) => {
      await store.sql(
        `UPDATE sluice.endpoint_deliveries SET due_at = now() - interval '1 second'
         WHERE message_id = $1 AND endpoint_id = $2`,
        [id, target],
      );
    },
  };
}
