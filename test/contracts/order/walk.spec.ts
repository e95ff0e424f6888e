import fc from 'fast-check';
import { DomainError } from '#kernel/domain-error.js';
import { matchesType } from '#messages/domain/type-pattern.js';
import type { Message } from '#messages/domain/message.js';
import { WebhookStore } from '../webhook-store.js';
import { WAYS, type Begun, type End, type Way } from './ways.js';

/** What is sent to one target, in the order of acceptance. */
interface Entry {
  readonly id: string;
  readonly key: string | null;
  state: 'open' | 'delivered' | 'ended';
  running: boolean;
  /** An attempt has begun since it was sent or retried. */
  begun: boolean;
}

/** The rule, without a database: of each key and target, one entry may be begun. */
class Model {
  readonly entries = new Map<string, Entry[]>();
  private readonly heads = new Map<string, Entry | undefined>();

  constructor(targets: readonly string[]) {
    for (const target of targets) this.entries.set(target, []);
  }

  find({ id, target }: Begun): Entry {
    const found = this.entries.get(target)?.find((entry) => entry.id === id);
    if (found === undefined) throw new Error('It was not sent there.');
    return found;
  }

  has(begun: Begun): boolean {
    return this.entries.get(begun.target)?.some(({ id }) => id === begun.id) === true;
  }

  send(id: string, key: string | null, targets: readonly string[]): void {
    for (const target of targets) {
      const entry: Entry = { id, key, state: 'open', running: false, begun: false };
      this.entries.get(target)?.push(entry);
      this.lead(target, key);
    }
  }

  mayBegin(): Begun[] {
    return [...this.entries].flatMap(([target, entries]) =>
      entries
        .filter((entry) => entry.state === 'open' && !entry.running)
        .filter((entry) => entry.key === null || this.heads.get(`${target} ${entry.key}`) === entry)
        .map(({ id }) => ({ id, target })),
    );
  }

  begin(begun: Begun): void {
    Object.assign(this.find(begun), { running: true, begun: true });
  }

  end(begun: Begun, how: End): void {
    const entry = this.find(begun);
    entry.running = false;
    if (how !== 'retried') this.close(begun, how === 'delivered' ? 'delivered' : 'ended');
  }

  close(begun: Begun, state: 'delivered' | 'ended'): void {
    const entry = this.find(begun);
    entry.state = state;
    this.lead(begun.target, entry.key);
  }

  /** One that was not sent to a target at first gets its place there. @param order all messages, as they were accepted */
  insert(id: string, key: string | null, target: string, order: readonly { readonly id: string }[]): void {
    const places = new Map(order.map((one, place) => [one.id, place]));
    const entries = this.entries.get(target) ?? [];
    entries.push({ id, key, state: 'ended', running: false, begun: false });
    entries.sort((one, other) => (places.get(one.id) ?? 0) - (places.get(other.id) ?? 0));
    this.reopen({ id, target }, key);
  }

  /** One that has ended is to be delivered again. */
  reopen({ id, target }: Begun, key: string | null): void {
    const entry = this.find({ id, target });
    Object.assign(entry, { state: 'open', running: false, begun: false });
    const head = this.heads.get(`${target} ${key}`);
    if (head?.begun === false) this.heads.delete(`${target} ${key}`);
    this.lead(target, key);
  }

  private lead(target: string, key: string | null): void {
    const name = `${target} ${key}`;
    if (this.heads.get(name)?.state === 'open') return;
    const open = this.entries.get(target)?.find((entry) => entry.key === key && entry.state === 'open');
    this.heads.set(name, open);
  }
}

const KEYS = [null, 'one', 'two', 'three'] as const;
const TYPES = [null, 'a', 'b.c'] as const;
const CHOICES = [[], ['a'], ['b.*'], ['a', 'b.*']] as const;
const step = fc.record({
  what: fc.constantFrom(
    ...(['send', 'batch', 'begin', 'begin', 'end', 'end', 'end', 'lose', 'cancel', 'retry', 'retry all'] as const),
    ...(['replay', 'disable', 'enable', 'choose'] as const),
  ),
  key: fc.constantFrom(...KEYS),
  pick: fc.nat(1_000),
  how: fc.constantFrom('delivered' as const, 'delivered' as const, 'retried' as const, 'failed' as const),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const DAY_MS = 86_400_000;
const EVER = [new Date(Date.now() - 10 * DAY_MS), new Date(Date.now() + 365 * DAY_MS)] as const;
const sorted = (all: readonly Begun[]) => all.map(({ id, target }) => `${target} ${id}`).sort();

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('Random steps with ordering keys, for %s', (mode) => {
  let webhooks: WebhookStore;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  afterAll(() => webhooks.close());

  it('begin what the rule says, all of it, and nothing else', async () => {
    const runs = Number(process.env.SLUICE_ORDER_RUNS ?? 12);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
        await webhooks.reset();
        await new Walk(webhooks, await WAYS[mode](webhooks)).run(steps);
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});

interface Sent {
  readonly id: string;
  readonly key: string | null;
  readonly type: string | null;
}

class Walk {
  private readonly model: Model;
  private readonly sent: Sent[] = [];
  private running: Begun[] = [];
  private readonly disabled = new Set<string>();
  /** What endpoints want, by endpoint; nothing for one that wants everything. */
  private readonly types = new Map<string, readonly string[]>();

  constructor(
    private readonly webhooks: WebhookStore,
    private readonly way: Way,
  ) {
    this.model = new Model(way.targets);
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const one of steps) await this.take(one);
    for (const target of this.disabled) await this.enable(target);
    // Whatever is left is delivered, and nothing is forgotten.
    for (let more = true; more;) {
      const begun = await this.begin();
      more = begun.length > 0 || this.running.length > 0;
      while (this.running.length > 0) await this.end(0, 'delivered');
    }
    const open = [...this.model.entries.values()].flat().filter(({ state }) => state === 'open');
    expect(open).toEqual([]);
    expect(await this.way.store.sql('SELECT * FROM sluice.ordered_deliveries')).toEqual([]);
    const left = `SELECT id FROM sluice.messages WHERE status IN ('queued', 'processing')`;
    expect(await this.way.store.sql(left)).toEqual([]);
  }

  private async take({ what, key, pick, how }: Step): Promise<void> {
    const { accountId, process, targets } = this.way;
    const hasEndpoints = targets.length > 1;
    const message = this.sent[pick % Math.max(1, this.sent.length)];
    const target = targets[pick % targets.length] ?? '';
    switch (what) {
      case 'send':
        return this.send([key], pick);
      case 'batch':
        return this.send(
          Array.from({ length: 1 + (pick % 5) }, (_, index) => KEYS[(pick + index) % KEYS.length] ?? key),
          pick,
        );
      case 'begin':
        return void (await this.begin());
      case 'end':
        return this.end(pick, how);
      case 'lose':
        return this.lose(pick);
      case 'cancel':
        if (message === undefined || !(await this.changes(message.id, (one) => one.cancel(new Date())))) return;
        for (const one of targets)
          if (this.isOpen(message.id, one)) this.model.close({ id: message.id, target: one }, 'ended');
        return;
      case 'retry':
        if (message !== undefined && (await this.changes(message.id, (one) => one.retry(new Date()))))
          this.reopen(message);
        return;
      case 'retry all': {
        const failed = await this.idsOf('failed');
        await process.messages.retryFailed(accountId, { type: null, since: null, until: null }, 100);
        for (const one of this.sent) if (failed.has(one.id)) this.reopen(one);
        return;
      }
      case 'replay':
        return hasEndpoints ? this.replay(target) : undefined;
      case 'disable':
        return hasEndpoints ? this.disable(target) : undefined;
      case 'enable':
        return this.disabled.has(target) ? this.enable(target) : undefined;
      case 'choose':
        return hasEndpoints ? this.choose(target, CHOICES[pick % CHOICES.length] ?? []) : undefined;
    }
  }

  private wants(target: string, type: string | null): boolean {
    return !this.disabled.has(target) && matchesType(this.types.get(target) ?? [], type);
  }

  private isOpen(id: string, target: string): boolean {
    return this.model.has({ id, target }) && this.model.find({ id, target }).state === 'open';
  }

  private async send(keys: readonly (string | null)[], pick: number): Promise<void> {
    const messages = keys.map((key, index) =>
      this.way.aMessage(key, { type: TYPES[(pick + index) % TYPES.length] ?? null }),
    );
    await this.way.process.messages.add(messages, null);
    for (const { id, state } of messages) {
      this.sent.push({ id, key: state.orderingKey, type: state.type });
      const targets = this.way.targets.filter((target) => this.wants(target, state.type));
      this.model.send(id, state.orderingKey, targets);
    }
  }

  private async begin(): Promise<Begun[]> {
    const expected = this.model.mayBegin().filter(({ target }) => !this.disabled.has(target));
    const begun = await this.way.begin();
    expect(sorted(begun)).toEqual(sorted(expected));
    for (const one of begun) this.model.begin(one);
    this.running.push(...begun);
    return begun;
  }

  private async end(pick: number, how: End): Promise<void> {
    const [begun] = this.running.splice(pick % Math.max(1, this.running.length), 1);
    if (begun === undefined) return;
    await this.way.end(begun, how);
    this.model.end(begun, how);
  }

  private async lose(pick: number): Promise<void> {
    const [begun] = this.running.splice(pick % Math.max(1, this.running.length), 1);
    if (begun === undefined) return;
    await this.way.lose(begun);
    this.model.find(begun).running = false;
  }

  /** @returns whether the message was in a state in which it can be changed so */
  private async changes(id: string, transition: (message: Message) => Message): Promise<boolean> {
    try {
      await this.way.process.messages.change(this.way.accountId, id, transition);
      return true;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'invalid_transition') return false;
      throw error;
    }
  }

  /** A message was retried: it goes to all enabled targets that want it and have not got it. */
  private reopen(message: Sent): void {
    for (const target of this.way.targets) this.reopenAt(message, target);
  }

  private reopenAt({ id, key, type }: Sent, target: string): void {
    if (!this.wants(target, type)) return;
    if (!this.model.has({ id, target })) {
      this.model.insert(id, key, target, this.sent);
    } else if (this.model.find({ id, target }).state === 'ended') {
      this.model.reopen({ id, target }, key);
    }
  }

  private async idsOf(status: string): Promise<Set<string>> {
    const rows = await this.way.store.sql<{ id: string }>('SELECT id FROM sluice.messages WHERE status = $1', [status]);
    return new Set(rows.map(({ id }) => id));
  }

  private async replay(endpoint: string): Promise<void> {
    const cancelled = await this.idsOf('cancelled');
    const terms = { since: EVER[0], until: EVER[1], max: 100, perSecond: 1_000_000 };
    await this.webhooks.deliveries.replay(this.way.accountId, endpoint, terms, new AbortController().signal);
    for (const one of this.sent) if (!cancelled.has(one.id)) this.reopenAt(one, endpoint);
  }

  private async disable(endpoint: string): Promise<void> {
    await this.webhooks.enable(endpoint, false);
    this.disabled.add(endpoint);
    await this.abandon(endpoint);
  }

  /** What waits for an endpoint in vain ends; what is being sent to it does not. */
  private async abandon(endpoint: string): Promise<void> {
    await this.webhooks.abandon(endpoint, 'endpoint_disabled');
    const types = new Map(this.sent.map(({ id, type }) => [id, type]));
    for (const { id, state, running } of this.model.entries.get(endpoint) ?? []) {
      const isWanted = this.wants(endpoint, types.get(id) ?? null);
      if (state === 'open' && !running && !isWanted) this.model.close({ id, target: endpoint }, 'ended');
    }
  }

  private async enable(endpoint: string): Promise<void> {
    await this.abandon(endpoint);
    await this.webhooks.enable(endpoint, true);
    this.disabled.delete(endpoint);
    await this.abandon(endpoint);
  }

  private async choose(endpoint: string, types: readonly string[]): Promise<void> {
    await this.webhooks.choose(endpoint, types);
    this.types.set(endpoint, types);
    await this.abandon(endpoint);
  }
}
