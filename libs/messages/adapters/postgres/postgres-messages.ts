import { lowestId } from '#kernel/ids.js';
import { isTypeId } from '#kernel/typeid.js';
import type { Backpressure } from '#platform/concurrency/backpressure.js';
import type { Database } from '#platform/database/database.js';
import type { Reads } from '#platform/database/reads.js';
import type { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { SharedReads } from '#platform/shared-reads.js';
import { WEBHOOKS, type Availability } from '../../application/delivering/availability.js';
import {
  Messages,
  type Accepted,
  type Listed,
  type MessageFilter,
  type MessagePage,
  type OnStarted,
  type TimeSpan,
} from '../../application/messages.js';
import type { JobDispatch } from '../../application/delivering/job-dispatch.js';
import { announcedFor } from '../../application/delivering/availability.js';
import type { Attempt } from '../../domain/attempt.js';
import { ENDPOINT_DELIVERY_STATUSES } from '../../domain/endpoint-delivery-status.js';
import { KEY_LIFETIME_MS, type Idempotency } from '../../domain/idempotency.js';
import { jobIdOf, Message } from '../../domain/message.js';
import { INITIAL_STATUS, MESSAGE_STATUSES } from '../../domain/message-status.js';
import { cancelQueued } from './changes/cancel-queued.sql.js';
import { CHANGE_MESSAGE, retryFailed } from './changes/change-messages.sql.js';
import { Releases, type ReleasedRow } from './order/releases.js';
import { GroupCommit } from './sending/group-commit.js';
import { DELETE_EXPIRED_KEYS, FIND_KEY } from './sending/idempotency-keys.js';
import { indexOf } from './reading/message-index.sql.js';
import { FIND_MESSAGES, LIST_ATTEMPTS, listMessages, listMessagesTo } from './reading/read-messages.sql.js';
import { toMessage, type MessageRow } from './message-row.js';

/** Keys that one statement deletes. */
const KEYS_AT_ONCE = 10_000;
/** Messages that one statement retries or cancels: bounds how long their rows are locked. */
const CHANGED_AT_ONCE = 500;
/** Messages that are looked up by one statement. */
const FOUND_AT_ONCE = 50;

/** Above every id. */
const HIGHEST_ID = 'msg_~';

interface ListedRow extends MessageRow {
  cut: boolean;
  more: boolean;
  /** The size of the texts of the page up to this row. */
  bytes: number;
}

/** The cost of the other columns of a message, in bytes of text: a page of small messages takes time, too. */
const ROW_BYTES = 2_048;
const sizeOf = (rows: ListedRow[]) => (rows.at(-1)?.bytes ?? 0) + rows.length * ROW_BYTES;
const textBytesOf = (rows: MessageRow[]) => rows.reduce((bytes, { text }) => bytes + text.length, 0);

interface RetriedRow extends ReleasedRow {
  count: number;
  deliveries: number;
  /** How many of them may be leased. */
  leasable: number;
  /** Deliveries to endpoints. */
  redelivered: number;
  last: string | null;
}

interface CancelledRow extends ReleasedRow {
  /** How many of the messages that were found are now cancelled. */
  count: number;
  found: number;
  last: string | null;
  /** Whether some that were found are left to the next step. */
  others: boolean;
  jobs: readonly { readonly id: string; readonly retries: number }[];
}

/** The first is the changed message, with its outbox entry if it has a new job; the others are what was released. */
interface ChangedRow extends Pick<MessageRow, 'status' | 'failure_reason' | 'updated_at'>, ReleasedRow {
  deliveries: number;
}

/** Its number is null in the one row of a message without attempts. */
type AttemptRow = Attempt | { readonly number: null };

export class PostgresMessages extends Messages {
  private readonly groupCommit: GroupCommit;
  private readonly shared = new SharedReads();
  /** Of each account, the messages to look up next. */
  private readonly wanted = new Map<string, Set<string>>();

  constructor(
    private readonly database: Database,
    private readonly reads: Reads,
    private readonly jobs: Pick<JobDispatch, 'enqueue'>,
    /** Announces what may be leased or sent. */
    private readonly availability: Pick<Availability, 'announce'>,
    private readonly releases: Pick<Releases, 'start'>,
    batches?: BatchMetrics,
    backpressure?: Backpressure,
  ) {
    super();
    this.groupCommit = new GroupCommit(database, jobs, availability, batches, backpressure);
  }

  add(messages: readonly Message[], idempotency: Idempotency | null): Promise<Accepted> {
    return this.groupCommit.add(messages, idempotency);
  }

  /** Resolves when every accepted request has its result. */
  idle(): Promise<void> {
    return this.groupCommit.idle();
  }

  async hasKey(accountId: string, key: string): Promise<boolean> {
    if (this.groupCommit.hasKey(accountId, key)) return true;
    const rows = await this.reads.query(accountId, 'key', FIND_KEY, [accountId, key, KEY_LIFETIME_MS]);
    return rows.length > 0;
  }

  async find(accountId: string, id: string): Promise<Message | null> {
    // Other text finds nothing; some of it (U+0000) PostgreSQL would reject.
    if (!isTypeId('msg', id)) return null;
    this.wanted.set(accountId, (this.wanted.get(accountId) ?? new Set()).add(id));
    const found = await this.shared.read(accountId, () => this.findWanted(accountId));
    return found.get(id) ?? null;
  }

  private async findWanted(accountId: string): Promise<Map<string, Message>> {
    const ids = [...(this.wanted.get(accountId) ?? [])];
    this.wanted.delete(accountId);
    const found = new Map<string, Message>();
    for (let start = 0; start < ids.length; start += FOUND_AT_ONCE) {
      const some = ids.slice(start, start + FOUND_AT_ONCE);
      const { name, text } = FIND_MESSAGES.for(some);
      const rows = await this.reads.query<MessageRow>(accountId, name, text, [some, accountId], textBytesOf);
      for (const row of rows) found.set(row.id, toMessage(row));
    }
    return found;
  }

  async list(accountId: string, { limit, before, since, until, preview, ...filter }: MessagePage): Promise<Listed> {
    const [name, text, more] = listOf(filter);
    const [from, end] = idsOf({ since, until });
    const values = [accountId, before !== null && before < end ? before : end, limit, from, ...more, preview];
    const rows = await this.reads.query<ListedRow>(accountId, name, text, values, sizeOf);
    const cut = new Set(rows.filter((row) => row.cut).map(({ id }) => id));
    return { messages: rows.map(toMessage), cut, more: rows.at(-1)?.more ?? false };
  }

  async attempts(accountId: string, id: string): Promise<Attempt[] | null> {
    if (!isTypeId('msg', id)) return null;
    const rows = await this.reads.query<AttemptRow>(accountId, 'attempts', LIST_ATTEMPTS, [id, accountId]);
    return rows.length === 0 ? null : rows.filter((row) => row.number !== null);
  }

  async change(
    accountId: string,
    id: string,
    transition: (message: Message) => Message,
    onStarted?: OnStarted,
  ): Promise<Message | null> {
    for (;;) {
      const before = await this.find(accountId, id);
      if (before === null) return null;
      const swapped = await this.swap(before, transition(before), onStarted);
      if (swapped !== null) return swapped;
    }
  }

  async retryFailed(
    accountId: string,
    { type, ...span }: MessageFilter,
    max: number,
    onStarted?: OnStarted,
  ): Promise<number> {
    const { index, values: typed } = indexOf(type);
    const text = retryFailed(index);
    const [first, end] = idsOf(span);
    let next = first;
    let retried = 0;
    while (retried < max) {
      const values = [accountId, end, Math.min(CHANGED_AT_ONCE, max - retried), next, ...typed];
      const [row, ...released] = await this.reads.query<RetriedRow>(accountId, `retry ${index.name}`, text, values);
      if (row === undefined || row.last === null) break;
      void this.releases.start(released);
      retried += row.count;
      onStarted?.(row.deliveries);
      if (row.leasable > 0) this.availability.announce([accountId]);
      if (row.redelivered > 0) this.availability.announce([WEBHOOKS]);
      // Only forward: a message that fails again in the meantime is not retried twice.
      next = `${row.last}0`;
    }
    return retried;
  }

  async cancelQueued(
    accountId: string,
    { type, ...span }: MessageFilter,
    max: number,
    onCancelled: (jobIds: readonly string[]) => Promise<unknown>,
  ): Promise<number> {
    const { index, values: typed } = indexOf(type);
    const text = cancelQueued(index);
    const [first, end] = idsOf(span);
    let next = first;
    let cancelled = 0;
    while (cancelled < max) {
      const atOnce = Math.min(CHANGED_AT_ONCE, max - cancelled);
      const values = [accountId, end, atOnce, next, ...typed];
      const [row, ...released] = await this.reads.query<CancelledRow>(accountId, `cancel ${index.name}`, text, values);
      if (row === undefined) break;
      void this.releases.start(released);
      cancelled += row.count;
      await onCancelled(row.jobs.map(jobIdOf));
      if (row.others) continue;
      if (row.found < atOnce) break;
      next = `${row.last ?? ''}0`;
    }
    return cancelled;
  }

  async deleteExpiredKeys(): Promise<boolean> {
    const deleted = await this.database.query(DELETE_EXPIRED_KEYS, [KEY_LIFETIME_MS, KEYS_AT_ONCE]);
    return deleted.length === KEYS_AT_ONCE;
  }

  /** @returns the message as it is stored now; null when another change was first */
  private async swap({ state: from }: Message, after: Message, onStarted?: OnStarted): Promise<Message | null> {
    const to = after.state;
    const isRetried = to.retries !== from.retries;
    const [row, ...released] = await this.database.query<ChangedRow>(CHANGE_MESSAGE, [
      ...[from.id, from.accountId, from.status, from.attempts, from.retries],
      ...[to.status, to.retries, to.failures, to.crashes, to.loneCrashes, to.failureReason, isRetried],
      ...[isRetried || after.hasEndpoints ? null : to.orderingKey, to.delivery],
    ]);
    if (row === undefined) return null;
    const { status, failure_reason: failureReason, updated_at: updatedAt, entry_id: entryId } = row;
    void this.releases.start(released);
    onStarted?.(row.deliveries);
    // Deliveries to endpoints wait for it again.
    const waits = status === INITIAL_STATUS && after.hasEndpoints && to.deliverAt !== null && to.deliverAt > updatedAt;
    const nextAttemptAt = waits ? to.deliverAt : null;
    const stored = Message.restore({ ...to, status, failureReason, updatedAt, nextAttemptAt });
    if (to.status === INITIAL_STATUS) this.availability.announce(announcedFor(stored));
    if (entryId !== null) this.jobs.enqueue({ id: entryId, messages: [stored] });
    return stored;
  }
}

/** The first id that messages of a time span can have, and the id after the last. */
function idsOf({ since, until }: TimeSpan): [string, string] {
  return [since === null ? '' : lowestId('msg', since), until === null ? HIGHEST_ID : lowestId('msg', until)];
}

/** The name and the text of the statement that lists messages, and its values from $5 on. */
function listOf({
  status,
  endpointId,
  type,
}: Pick<MessagePage, 'status' | 'endpointId' | 'type'>): [string, string, readonly string[]] {
  if (endpointId !== null) {
    const made = ENDPOINT_DELIVERY_STATUSES.find((candidate) => candidate === status) ?? null;
    return [`list of an endpoint, ${made ?? 'any'}`, listMessagesTo(made), [endpointId]];
  }
  const { index, values } = indexOf(type);
  const statuses = status === null ? MESSAGE_STATUSES : [status];
  const name = `list of ${index.name}${status === null ? '' : ' with a status'}`;
  return [name, listMessages(index, 5 + values.length, statuses.length), [...values, ...statuses]];
}
