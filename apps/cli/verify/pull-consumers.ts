import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountChanges } from './account-changes.js';
import type { Consumers } from './consumers.js';
import type { Service, ServiceResponse } from './service.js';
import type { Throttle } from './throttle.js';

const CONSUMERS = 4;
const LEASE = { max: 100, seconds: 5, wait: 5 };
/** One in so many leases is left to expire, and one in so many is rejected: their messages must come again. */
const FORGOTTEN_EVERY = 20;
const REJECTED_EVERY = 10;
const PAUSE_MS = 200;

interface Leased {
  readonly id: string;
  readonly attempt: number;
  readonly leaseToken: string;
}

/** Consumers that pull the messages of the account, and note each message that they have had. */
export class PullConsumers implements Consumers {
  readonly guarantees = [];
  private readonly processed = new Set<string>();
  private readonly stopping = new AbortController();
  private consumers: Promise<void>[] = [];
  private leases = 0;

  constructor(
    private readonly service: Service,
    private readonly throttle: Throttle,
    private readonly changes: AccountChanges,
  ) {}

  async start(): Promise<void> {
    await this.changes.switchDelivery('pull', ['account:manage', 'messages:consume']);
    this.consumers = Array.from({ length: CONSUMERS }, (_, index) => this.consume(index));
  }

  has(id: string): boolean {
    return this.processed.has(id);
  }

  areAlone(): Promise<boolean> {
    return this.changes.isDeliveryKept();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.consumers);
    await this.changes.undo();
  }

  private async consume(index: number): Promise<void> {
    const { signal } = this.stopping;
    for (let attempt = index; !signal.aborted; attempt++) {
      const leased = (await this.ask('/messages/lease', LEASE, attempt))?.body?.data as Leased[] | undefined;
      if (leased === undefined) await sleep(PAUSE_MS);
      else if (leased.length > 0) await this.process(leased, attempt);
    }
  }

  private async process(leased: readonly Leased[], attempt: number): Promise<void> {
    for (const { id } of leased) this.processed.add(id);
    const lease = ++this.leases;
    if (lease % FORGOTTEN_EVERY === 0) return;
    const rejected = lease % REJECTED_EVERY === 0 ? leased.filter((message) => message.attempt === 1).slice(0, 5) : [];
    for (const { id, leaseToken } of rejected) {
      await this.ask(`/messages/${id}/nack`, { leaseToken, delaySeconds: 0 }, attempt);
    }
    const done = leased.filter((message) => !rejected.includes(message));
    const leases = done.map(({ id, leaseToken }) => ({ id, leaseToken }));
    if (leases.length > 0) await this.ask('/messages/ack', { leases }, attempt);
  }

  /** @returns null without a successful response: the messages come again */
  private async ask(path: string, body: object, attempt: number): Promise<ServiceResponse | null> {
    if (!(await this.throttle.acquire(Infinity, { signal: this.stopping.signal }))) return null;
    const response = await this.service.send('POST', path, body, attempt).catch(() => null);
    this.throttle.release(response);
    return response !== null && response.status < 300 ? response : null;
  }
}
