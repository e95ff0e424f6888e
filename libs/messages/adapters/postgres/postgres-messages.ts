import { DomainError } from '#kernel/domain-error.js';
import { lowestId } from '#kernel/ids.js';
import { isTypeId } from '#kernel/typeid.js';
import { Batcher, type BatchObserver } from '#platform/batcher.js';
import type { Database } from '#platform/database/database.js';
import { sqlState } from '#platform/database/errors.js';
import {
  KEY_LIFETIME_MS,
  Messages,
  type Accepted,
  type AcceptedBatch,
  type Idempotency,
  type Page,
} from '../../application/messages.js';
import type { OutboxRelay } from '../../application/outbox-relay.js';
import type { Attempt, AttemptOutcome } from '../../domain/attempt.js';
import { bytesOf, Message } from '../../domain/message.js';
import { INITIAL_STATUS } from '../../domain/message-status.js';
import { ACCEPT, CHANGE, FIND, FIRST_USES, FORGET_KEY, FORGET_KEYS, LIST, RETRY_FAILED } from './accept.sql.js';
import { ATTEMPTS } from './attempts.sql.js';
import { toMessage, type MessageRow } from './message.schema.js';

/** Keys that one statement removes. */
const FORGET_AT_ONCE = 10_000;
/** Milliseconds that a request waits at least for the first one with its key. */
const KEY_PATIENCE_MS = 5_000;

/** Messages that are stored together, known by their first. */
interface Request {
  readonly first: Message;
  readonly messages: readonly Message[];
  readonly idempotency: Idempotency | null;
}

/** Messages that one statement retries: others that want its rows wait no longer than for these. */
const RETRIED_AT_ONCE = 500;

interface FirstUse {
  index: number;
  fingerprint: Buffer;
  message_id: string;
  /** All messages of a batch; null when the key was used for a single one. */
  message_ids: string[] | null;
  created_at: Date;
}

interface Entry {
  id: string;
  message_ids: string[];
  for_sweeper: boolean;
}

interface AttemptRow {
  /** Null in the one row of a message without attempts. */
  number: number | null;
  started_at: Date;
  duration_ms: number | null;
  outcome: AttemptOutcome;
  error: string | null;
}

/** What the store says of one request; null when its key has lapsed meanwhile and the request must come again. */
type Answer = AcceptedBatch | DomainError | null;

const LIMITS = {
  maxItems: 256,
  maxBytes: 4 * 1_048_576,
  maxWaiting: 10_000,
  maxWaitingBytes: 64 * 1_048_576,
  concurrency: 2,
  sizeOf: ({ messages }: Request) => bytesOf(messages),
};

export class PostgresMessages extends Messages {
  // Requests with a key may have to wait for another process's transaction. The others shall not wait with them.
  private readonly plain: Batcher<Request, AcceptedBatch>;
  private readonly keyed: Batcher<Request, Answer>;

  /** The first request with each key that is under way: those that follow it wait here, not in the store. */
  private readonly firsts = new Map<string, Promise<AcceptedBatch>>();

  constructor(
    private readonly database: Database,
    private readonly relay: OutboxRelay,
    observer?: (batches: 'accept' | 'accept_keyed') => BatchObserver,
  ) {
    super();
    this.plain = new Batcher((requests) => this.acceptAll(requests), { ...LIMITS, observer: observer?.('accept') });
    this.keyed = new Batcher((requests) => this.accept(requests), { ...LIMITS, observer: observer?.('accept_keyed') });
  }

  async add(message: Message, idempotency: Idempotency | null): Promise<Accepted> {
    const { messages, replayed } = await this.submit({ first: message, messages: [message], idempotency });
    return { message: messages[0] ?? message, replayed };
  }

  addBatch(messages: readonly Message[], idempotency: Idempotency | null): Promise<AcceptedBatch> {
    const [first] = messages;
    if (first === undefined) return Promise.reject(new Error('A batch holds at least one message.'));
    return this.submit({ first, messages, idempotency });
  }

  private async submit(request: Request): Promise<AcceptedBatch> {
    if (request.idempotency === null) return this.plain.submit(request);
    const name = `${request.first.state.accountId}/${request.idempotency.key}`;
    const deadline = performance.now() + KEY_PATIENCE_MS;
    const first = this.firsts.get(name);
    if (first !== undefined) {
      if (!(await endsBefore(first, deadline))) throw keyInUse();
      return this.addKeyed(request, deadline);
    }
    const accepted = this.addKeyed(request, deadline);
    this.firsts.set(name, accepted);
    return accepted.finally(() => this.firsts.delete(name));
  }

  private async addKeyed(request: Request, deadline: number): Promise<AcceptedBatch> {
    for (;;) {
      try {
        const accepted = settled(await this.keyed.submit(request));
        if (accepted !== null) return accepted;
      } catch (error) {
        // 55P03: the transaction that holds the key has not ended within lock_timeout.
        if (sqlState(error) !== '55P03') throw error;
        if (performance.now() > deadline) throw keyInUse();
      }
    }
  }

  async find(accountId: string, id: string): Promise<Message | null> {
    // Text that is no id finds nothing; some of it (U+0000) PostgreSQL would not even take.
    if (!isTypeId('msg', id)) return null;
    const [row] = await this.database.query<MessageRow>(FIND, [id, accountId]);
    return row === undefined ? null : toMessage(row);
  }

  async list(accountId: string, { limit, before, status }: Page): Promise<Message[]> {
    const rows = await this.database.query<MessageRow>(LIST, [accountId, before, status, limit]);
    return rows.map(toMessage);
  }

  async attempts(accountId: string, id: string): Promise<Attempt[] | null> {
    if (!isTypeId('msg', id)) return null;
    const rows = await this.database.query<AttemptRow>(ATTEMPTS, [id, accountId]);
    if (rows.length === 0) return null;
    return rows.flatMap(({ number, started_at: startedAt, duration_ms: durationMs, outcome, error }) =>
      number === null ? [] : [{ number, startedAt, durationMs, outcome, error }],
    );
  }

  async change(accountId: string, id: string, transition: (message: Message) => Message): Promise<Message | null> {
    for (;;) {
      const before = await this.find(accountId, id);
      if (before === null) return null;
      const swapped = await this.swap(before, transition(before));
      if (swapped !== null) return swapped;
    }
  }

  async retryFailed(accountId: string, since: Date, until: Date, max: number): Promise<number> {
    const end = lowestId('msg', until);
    let next: string | null = lowestId('msg', since);
    let retried = 0;
    while (next !== null && retried < max) {
      const values: unknown[] = [accountId, next, end, Math.min(RETRIED_AT_ONCE, max - retried)];
      const [row] = await this.database.query<{ count: number; last: string | null }>(RETRY_FAILED, values);
      retried += row?.count ?? 0;
      // What fails again meanwhile is not retried again: ids are only walked forward.
      next = row?.last == null ? null : `${row.last}0`;
    }
    return retried;
  }

  async forgetKeys(before: Date): Promise<void> {
    // In pieces, each of which ends in time, however many there are.
    let forgotten: unknown[];
    do forgotten = await this.database.query(FORGET_KEYS, [before, FORGET_AT_ONCE]);
    while (forgotten.length === FORGET_AT_ONCE);
  }

  /** Resolves when every request that was taken in has its answer. */
  async idle(): Promise<void> {
    await Promise.all([this.plain.idle(), this.keyed.idle()]);
  }

  /** @returns the message as it is stored now; null when somebody else was first */
  private async swap({ state: from }: Message, after: Message): Promise<Message | null> {
    const to = after.state;
    const hasNewJob = to.retries !== from.retries;
    const [row] = await this.database.query<{ updated_at: Date; entry_id: string | null }>(CHANGE, [
      from.id,
      from.status,
      from.attempts,
      from.retries,
      to.status,
      to.retries,
      to.failures,
      to.crashes,
      to.loneCrashes,
      to.failureReason,
      hasNewJob,
    ]);
    if (row === undefined) return null;
    const stored = Message.restore({ ...to, updatedAt: row.updated_at });
    if (row.entry_id !== null) this.relay.offer({ id: row.entry_id, messages: [stored] });
    return stored;
  }

  private async acceptAll(requests: Request[]): Promise<AcceptedBatch[]> {
    await this.store(requests);
    return requests.map(({ messages }) => ({ messages, replayed: false }));
  }

  private async accept(requests: Request[]): Promise<Answer[]> {
    const stored = await this.store(requests);
    const others = requests.filter(({ first }) => !stored.has(first.id));
    const answers = new Map(await this.firstUses(others));
    return requests.map(({ first, messages }) =>
      stored.has(first.id) ? { messages, replayed: false } : (answers.get(first.id) ?? null),
    );
  }

  /** @returns the ids of the messages that are stored now: all but those whose key was used before */
  private async store(requests: Request[]): Promise<Set<string>> {
    const rows = requests.flatMap(rowsOf);
    const values = [
      rows.map(({ state }) => state.id),
      rows.map(({ state }) => state.accountId),
      rows.map(({ state }) => state.text),
      rows.map(({ state }) => state.createdAt),
      rows.map(({ state }) => state.traceparent),
      rows.map(({ head }) => head),
      rows.map(({ record }) => record?.key ?? null),
      rows.map(({ record }) => record?.fingerprint ?? null),
      rows.map(({ batch }) => batch),
      rows.map(({ state }) => state.deliverAt),
      INITIAL_STATUS,
    ];
    const entries = await this.database.prepared<Entry>('accept', ACCEPT, values);
    const all = requests.flatMap(({ messages }) => messages);
    for (const { id, message_ids, for_sweeper } of entries) {
      const own = new Set(message_ids);
      if (!for_sweeper) this.relay.offer({ id, messages: all.filter((message) => own.has(message.id)) });
    }
    return new Set(entries.flatMap(({ message_ids }) => message_ids));
  }

  /** What requests whose key was used before are answered: pairs of the id of the request's first message and the answer. */
  private async firstUses(requests: Request[]): Promise<[string, Answer][]> {
    if (requests.length === 0) return [];
    const uses = await this.database.query<FirstUse>(FIRST_USES, [
      requests.map(({ first }) => first.state.accountId),
      requests.map(({ idempotency }) => idempotency?.key),
    ]);
    const answers: [string, Answer][] = [];
    for (const use of uses) {
      const request = requests[use.index];
      if (request !== undefined) answers.push([request.first.id, await this.answer(request, use)]);
    }
    return answers;
  }

  private async answer({ first, messages, idempotency }: Request, use: FirstUse): Promise<Answer> {
    const { accountId, createdAt } = first.state;
    if (use.created_at.getTime() <= createdAt.getTime() - KEY_LIFETIME_MS) {
      await this.database.query(FORGET_KEY, [accountId, idempotency?.key, use.message_id]);
      return null;
    }
    if (idempotency?.fingerprint.equals(use.fingerprint) !== true) {
      return new DomainError('idempotency_key_reused', 'Use a new Idempotency-Key for another request.');
    }
    // Stored, and then repeated because something else of the same run failed after the commit.
    if (use.message_id === first.id) return { messages, replayed: false };
    const ids = use.message_ids ?? [use.message_id];
    const stored = messages.map(({ state }, index) =>
      Message.queue(ids[index] ?? '', accountId, { text: state.text }, use.created_at),
    );
    return { messages: stored, replayed: true };
  }
}

/** A request's messages as rows; its idempotency record goes with the first. */
function rowsOf({ first, messages, idempotency }: Request) {
  const head = idempotency === null ? null : first.id;
  const batch = idempotency === null || messages.length === 1 ? null : `{${messages.map(({ id }) => id).join(',')}}`;
  return messages.map(({ state }) =>
    state.id === first.id ? { state, head, record: idempotency, batch } : { state, head, record: null, batch: null },
  );
}

/** Whether work ends, in whatever way, before a time of `performance.now()`. */
async function endsBefore(work: Promise<unknown>, deadline: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      resolve(false);
    }, deadline - performance.now());
  });
  const ended = work.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([ended, late]);
  clearTimeout(timer);
  return inTime;
}

function keyInUse(): DomainError {
  return new DomainError('idempotency_key_in_use', 'The first request with this key is still under way. Repeat it.');
}

function settled(answer: Answer): AcceptedBatch | null {
  if (answer instanceof DomainError) throw answer;
  return answer;
}
