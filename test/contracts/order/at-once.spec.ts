import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '#kernel/domain-error.js';
import type { Message } from '#messages/domain/message.js';
import { WebhookStore } from '../webhook-store.js';
import { WAYS, type Begun, type End, type Way } from './ways.js';

const KEYS = ['one', 'two', 'three'];
const ENDS: readonly End[] = ['delivered', 'delivered', 'retried', 'failed'];
const ROUNDS = 60;
const BATCH = 3;

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('Ordering keys that many change at once, for %s', (mode) => {
  let webhooks: WebhookStore;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  beforeEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  it('have one message under way, in order, and none forgotten; nothing deadlocks', async () => {
    const way = await WAYS[mode](webhooks);
    const processes = [way.process, await way.store.process()];
    const busy = new Busy(way);
    const sending = Promise.all(processes.map((process, index) => busy.send(process, index === 0)));
    const changing = Promise.all(processes.flatMap((process) => [busy.cancelSome(process), busy.retrySome(process)]));
    await Promise.all([
      changing
        .then(() => sending)
        .finally(() => {
          busy.stop();
        }),
      busy.deliver(),
    ]);

    expect(busy.violations).toEqual([]);
    expect(busy.begins).toBeGreaterThan(ROUNDS);
    expect(processes.flatMap(({ faults }) => faults)).toEqual([]);
    const open = `SELECT id, status FROM sluice.messages WHERE status IN ('queued', 'processing')`;
    expect(await way.store.sql(open)).toEqual([]);
    expect(await way.store.sql('SELECT * FROM sluice.ordered_deliveries')).toEqual([]);
    // Of each key, messages began for the first time in the order of their positions.
    const positions = await way.store.sql<{ id: string; position: string }>('SELECT id, position FROM sluice.messages');
    const positionOf = new Map(positions.map(({ id, position }) => [id, Number(position)]));
    for (const order of busy.order.values()) {
      const places = order.map((id) => positionOf.get(id) ?? 0);
      expect(places).toEqual(places.toSorted((one, other) => one - other));
    }
  });
});

class Busy {
  readonly violations: string[] = [];
  /** By target and key, messages in the order in which they began for the first time. */
  readonly order = new Map<string, string[]>();
  begins = 0;
  private readonly keyOf = new Map<string, string>();
  private readonly running = new Map<string, string>();
  private stopped = false;

  constructor(private readonly way: Way) {}

  stop(): void {
    this.stopped = true;
  }

  async send({ messages }: Way['process'], forwards: boolean): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const keys = KEYS.slice(0, BATCH);
      const batch = (forwards ? keys : keys.toReversed()).map((key) => this.way.aMessage(key));
      for (const { id, state } of batch) this.keyOf.set(id, state.orderingKey ?? '');
      await messages.add(batch, null);
      if (round % 10 === 9) await sleep(1);
    }
  }

  async cancelSome(process: Way['process']): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) await this.change(process, (message) => message.cancel(new Date()));
  }

  async retrySome(process: Way['process']): Promise<void> {
    const ever = { type: null, since: null, until: null };
    for (let round = 0; round < ROUNDS; round++) {
      await this.change(process, (message) => message.retry(new Date()));
      if (round % 20 === 19) await process.messages.retryFailed(this.way.accountId, ever, 100);
    }
  }

  /** Begins and ends until all is final, with the ends of attempts beside the beginnings of others. */
  async deliver(): Promise<void> {
    const ending = new Set<Promise<void>>();
    for (;;) {
      const isIdle = this.stopped && ending.size === 0;
      const begun = await this.way.begin();
      for (const one of begun) {
        this.note(one);
        const end = this.end(one, this.stopped ? 'delivered' : (ENDS[this.begins % ENDS.length] ?? 'delivered'));
        ending.add(end);
        void end.finally(() => ending.delete(end));
      }
      if (begun.length === 0) await Promise.all([sleep(5), ...ending]);
      if (begun.length === 0 && isIdle) return;
    }
  }

  private note({ id, target }: Begun): void {
    const key = `${target} ${this.keyOf.get(id)}`;
    const other = this.running.get(key);
    if (other !== undefined) this.violations.push(`${id} began while ${other} was under way for ${key}`);
    this.running.set(key, id);
    this.begins++;
    const order = this.order.get(key) ?? [];
    if (!order.includes(id)) order.push(id);
    this.order.set(key, order);
  }

  private async end(begun: Begun, how: End): Promise<void> {
    await sleep(1);
    this.running.delete(`${begun.target} ${this.keyOf.get(begun.id)}`);
    await this.way.end(begun, how);
  }

  private async change({ messages }: Way['process'], transition: (message: Message) => Message): Promise<void> {
    const ids = [...this.keyOf.keys()];
    const id = ids[Math.floor(Math.random() * ids.length)] ?? '';
    await messages.change(this.way.accountId, id, transition).catch((error: unknown) => {
      if (!(error instanceof DomainError && error.code === 'invalid_transition')) throw error;
    });
  }
}
