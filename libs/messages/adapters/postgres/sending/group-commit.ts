import { unauthorized } from '#accounts/index.js';
import { DomainError } from '#kernel/domain-error.js';
import { withTimeout } from '#kernel/timeout.js';
import { Batcher, observers } from '#platform/concurrency/batcher.js';
import type { Backpressure } from '#platform/concurrency/backpressure.js';
import type { Database } from '#platform/database/database.js';
import { sqlState } from '#platform/database/errors.js';
import type { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { announcedFor, type Availability, type Available } from '../../../application/delivering/availability.js';
import type { Accepted } from '../../../application/messages.js';
import type { Idempotency } from '../../../domain/idempotency.js';
import { contentRow } from '../message-row.js';
import { BATCH_BYTES, type JobDispatch } from '../../../application/delivering/job-dispatch.js';
import type { Message } from '../../../domain/message.js';
import { bytesOf } from '../../../domain/message-size.js';
import { ADD_MESSAGES, ADD_MESSAGES_WITH_JOBS, type SentRow } from './add-messages.sql.js';
import { resultsOfUsedKeys, type KeyResult, type Request } from './idempotency-keys.js';

/** The minimum time that a request waits for the first one with its key. */
const KEY_WAIT_MS = 5_000;

/** Raised by `sluice.refuse_deleted_accounts`. */
const ACCOUNT_DELETED = 'SLDEL';

const LIMITS = {
  maxItems: 256,
  maxBytes: BATCH_BYTES,
  maxWaiting: 10_000,
  maxWaitingBytes: 64 * 1_048_576,
  concurrency: 2,
  sizeOf: ({ messages }: Request) => bytesOf(messages),
};

interface Entry {
  /** Null for messages without an outbox entry. */
  id: string | null;
  message_ids: string[];
  for_sweeper: boolean | null;
  /** To how many endpoints each of the messages goes. */
  endpoints: number;
}

/** Stores the messages of concurrent requests in common transactions. */
export class GroupCommit {
  // Requests with a key may have to wait for another process's transaction. The others must not wait with them.
  private readonly plain: Batcher<Request, Accepted>;
  private readonly keyed: Batcher<Request, KeyResult>;
  /** Messages with an ordering key, which may have to wait for other messages with theirs. */
  private readonly ordered: Batcher<Request, Accepted>;
  private readonly orderedKeyed: Batcher<Request, KeyResult>;
  /** Requests whose key is held by another process's transaction. */
  private readonly contended: Batcher<Request, KeyResult>;

  /** The first request in progress with each key. Further ones wait for it here instead of in the store. */
  private readonly firsts = new Map<string, Promise<Accepted>>();

  constructor(
    private readonly database: Database,
    private readonly jobs: Pick<JobDispatch, 'enqueue'>,
    private readonly availability: Pick<Availability, 'announce'>,
    batches?: BatchMetrics,
    backpressure?: Backpressure,
  ) {
    const observer = (name: string) =>
      batches && backpressure && observers(batches.observer(name), backpressure.observer('store'));
    const plain = (requests: Request[]) => this.acceptPlain(requests);
    const keyed = (requests: Request[]) => this.acceptKeyed(requests);
    this.plain = new Batcher(plain, { ...LIMITS, observer: observer('accept') });
    this.keyed = new Batcher(keyed, { ...LIMITS, observer: observer('accept_keyed') });
    // Concurrent ones could only wait for each other.
    const limits = { ...LIMITS, concurrency: 1 };
    this.ordered = new Batcher(plain, { ...limits, observer: observer('accept_ordered') });
    this.orderedKeyed = new Batcher(keyed, { ...limits, observer: observer('accept_ordered_keyed') });
    // Waiting for another process's transaction is no sign of overload.
    this.contended = new Batcher(keyed, { ...LIMITS, observer: batches?.observer('accept_contended') });
  }

  async add(messages: readonly Message[], idempotency: Idempotency | null): Promise<Accepted> {
    const [first] = messages;
    if (first === undefined) throw new Error('A batch has at least one message.');
    const request = { first, messages, idempotency };
    if (idempotency === null) return (isOrdered(request) ? this.ordered : this.plain).submit(request);
    const name = nameOf(first.state.accountId, idempotency.key);
    const deadline = performance.now() + KEY_WAIT_MS;
    const earlier = this.firsts.get(name);
    if (earlier !== undefined) {
      const ended = earlier.catch(() => undefined);
      await withTimeout(ended, deadline - performance.now(), () => {
        throw keyInUse();
      });
      return this.addKeyed(request, deadline);
    }
    const accepted = this.addKeyed(request, deadline);
    this.firsts.set(name, accepted);
    return accepted.finally(() => this.firsts.delete(name));
  }

  /** Whether a request with this key is in progress. */
  hasKey(accountId: string, key: string): boolean {
    return this.firsts.has(nameOf(accountId, key));
  }

  /** Resolves when no request waits or runs. */
  async idle(): Promise<void> {
    const all = [this.plain, this.keyed, this.ordered, this.orderedKeyed, this.contended];
    await Promise.all(all.map((batcher) => batcher.idle()));
  }

  private async addKeyed(request: Request, deadline: number): Promise<Accepted> {
    for (let batcher = isOrdered(request) ? this.orderedKeyed : this.keyed; ; batcher = this.contended) {
      try {
        const result = await batcher.submit(request);
        if (result instanceof DomainError) throw result;
        if (result !== null) return result;
      } catch (error) {
        // 55P03: the transaction that holds the key has not ended within lock_timeout.
        if (sqlState(error) !== '55P03') throw error;
        if (performance.now() > deadline) throw keyInUse();
      }
    }
  }

  private async acceptPlain(requests: Request[]): Promise<Accepted[]> {
    const stored = await this.store(requests);
    return requests.map((request) => acceptedNow(request, stored));
  }

  private async acceptKeyed(requests: Request[]): Promise<KeyResult[]> {
    const stored = await this.store(requests);
    const others = requests.filter(({ first }) => !stored.has(first.id));
    const results = await resultsOfUsedKeys(this.database, others);
    return requests.map((request) =>
      stored.has(request.first.id) ? acceptedNow(request, stored) : (results.get(request.first.id) ?? null),
    );
  }

  /** @returns to how many endpoints each message goes that was stored: all but those whose key was used before */
  private async store(requests: Request[]): Promise<Map<string, number>> {
    const rows = requests.flatMap(rowsOf);
    const arePlain = requests.every((request) => request.first.hasJob && !isOrdered(request));
    const { text, columns } = arePlain ? ADD_MESSAGES_WITH_JOBS : ADD_MESSAGES;
    const values = columns.map((column) => rows.map((row) => row[column]));
    const entries = await this.database
      .prepared<Entry>(arePlain ? 'accept' : 'accept any', text, values)
      .catch(refuseDeleted(requests));
    const all = requests.flatMap(({ messages }) => messages);
    for (const { id, message_ids, for_sweeper } of entries) {
      if (id === null || for_sweeper === true) continue;
      const ids = new Set(message_ids);
      this.jobs.enqueue({ id, messages: all.filter((message) => ids.has(message.id)) });
    }
    const stored = new Map(entries.flatMap(({ message_ids, endpoints }) => message_ids.map((id) => [id, endpoints])));
    const available = new Set<Available>();
    for (const message of all) {
      const endpoints = stored.get(message.id);
      if (endpoints === undefined || (message.hasEndpoints && endpoints === 0)) continue;
      for (const one of announcedFor(message)) available.add(one);
    }
    this.availability.announce(available);
    return stored;
  }
}

/** A request's messages as rows; its idempotency record is in the first. */
function rowsOf({ first, messages, idempotency }: Request): SentRow[] {
  const head = idempotency === null ? null : first.id;
  const batch = idempotency === null || messages.length === 1 ? null : `{${messages.map(({ id }) => id).join(',')}}`;
  return messages.map(({ state }) => {
    const isFirst = state.id === first.id;
    return {
      id: state.id,
      account_id: state.accountId,
      created_at: state.createdAt,
      traceparent: state.traceparent,
      delivery: state.delivery,
      head,
      key: isFirst && idempotency !== null ? idempotency.key : null,
      fingerprint: isFirst && idempotency !== null ? idempotency.fingerprint : null,
      batch: isFirst ? batch : null,
      ...contentRow(state),
    };
  });
}

function acceptedNow({ messages }: Request, stored: ReadonlyMap<string, number>): Accepted {
  const deliveries = messages.reduce((sum, { id }) => sum + (stored.get(id) ?? 0), 0);
  return { messages, deliveries, replayed: false };
}

const isOrdered = ({ messages }: Request) => messages.some(({ state }) => state.orderingKey !== null);

/** The account was deleted after the request was admitted. Of several requests, the others are stored one by one. */
function refuseDeleted({ length }: readonly Request[]) {
  return (error: unknown): never => {
    throw length === 1 && sqlState(error) === ACCOUNT_DELETED ? unauthorized() : error;
  };
}

const nameOf = (accountId: string, key: string) => `${accountId}/${key}`;

function keyInUse(): DomainError {
  return new DomainError(
    'idempotency_key_in_use',
    'The first request with this key is still in progress. Retry later.',
  );
}
