import { setTimeout as sleep } from 'node:timers/promises';
import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { DomainError } from '#kernel/domain-error.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import { withTimeout } from '#kernel/timeout.js';
import type { EventLog, MessageEvent, Position, StreamPlace, StreamPlaces } from './event-log.js';

export const MAX_STREAMS = 5;
/** How often a process reads what is new. */
const READ_EVERY_MS = 100;
/** How often it does so while the installation is quiet. */
const QUIET_EVERY_MS = 30_000;
/** The place of a stream whose process has died is free after this long. */
export const PLACE_LIFETIME_MS = 30_000;
/** Places are renewed more often, also while the installation is quiet. */
const RENEW_EVERY_MS = 5_000;
const QUIET_RENEW_EVERY_MS = 20_000;
export const HEARTBEAT_EVERY_MS = 15_000;
/** A key that was revoked gets nothing more after a second. */
const ADMIT_EVERY_MS = 500;
/** A stream with more unread bytes gets nothing new until its client has read them. */
const MAX_WAITING_BYTES = 65_536;
/** A client that takes longer for a page is cut. */
export const SLOWEST_PAGE_MS = 5_000;

/** A connection that gets events. */
export interface EventSink {
  /** Bytes that the client has not read yet. */
  readonly waitingBytes: number;
  /** Sends the first position, so that a client that has got no event yet can resume as well. */
  begin(position: Position): void;
  send(events: readonly MessageEvent[]): void;
  heartbeat(): void;
  /** Resolves when the client has read most of it, or is gone. */
  drained(): Promise<void>;
  /** Ends the response after everything that was sent. */
  end(): void;
  /** Closes the connection at once: the client does not get the rest. */
  cut(): void;
}

export interface EventObserver {
  /** Passes a function that returns how many streams are open. */
  watchStreams(open: () => number): void;
  sent(events: number): void;
  cut(): void;
}

class Stream {
  private open = true;

  constructor(
    readonly place: StreamPlace,
    readonly sink: EventSink,
    /** Whether the client may still get events. */
    readonly isAdmitted: () => Promise<boolean>,
    public position: Position,
  ) {}

  get accountId(): string {
    return this.place.accountId;
  }

  isOpen(): boolean {
    return this.open;
  }

  close(): void {
    this.open = false;
  }
}

/**
 * The streams of a process. Streams that are up to date share one statement that reads new events. Each of the others
 * reads at the pace of its client until it is up to date, too.
 */
export class EventStreams {
  private readonly streams = new Set<Stream>();
  /** Streams that are up to date: they have sent every event before `end`. */
  private current = new Set<Stream>();
  private end: bigint | null = null;
  /** When it was last checked who may read, as `performance.now()`. */
  private admittedAt = -Infinity;
  private closed = false;
  private readonly tasks = [
    { task: new PeriodicTask(() => this.readNew()), everyMs: READ_EVERY_MS, quietEveryMs: QUIET_EVERY_MS },
    { task: new PeriodicTask(() => this.admit()), everyMs: ADMIT_EVERY_MS, quietEveryMs: Infinity },
    { task: new PeriodicTask(() => this.renew()), everyMs: RENEW_EVERY_MS, quietEveryMs: QUIET_RENEW_EVERY_MS },
    {
      task: new PeriodicTask(() => this.sendHeartbeats()),
      ...{ everyMs: HEARTBEAT_EVERY_MS, quietEveryMs: HEARTBEAT_EVERY_MS },
    },
  ];

  constructor(
    private readonly log: EventLog,
    private readonly places: StreamPlaces,
    private readonly observer: EventObserver,
    private readonly activity = ALWAYS_ACTIVE,
  ) {
    observer.watchStreams(() => this.streams.size);
    activity.onWake(() => {
      for (const { task } of this.tasks) task.adjust();
    });
  }

  /**
   * Opens a stream.
   * @param after the last event that the client has got; null for events from now on
   * @returns closes it, once its client is gone
   * @throws DomainError `too_many_streams`
   */
  async open(
    accountId: string,
    after: Position | null,
    sink: EventSink,
    isAdmitted: () => Promise<boolean>,
  ): Promise<() => void> {
    if (this.closed) throw new DomainError('unavailable', 'The service is being restarted. Retry later.');
    const place = await this.places.take(accountId);
    if (place === null) {
      const detail = `An account can have at most ${MAX_STREAMS} open event streams. Close one first.`;
      throw new DomainError('too_many_streams', detail);
    }
    // Taken after the place: from then on, all that happens is recorded.
    const end = await this.log.end().catch((error: unknown) => {
      this.leave(place);
      throw error;
    });
    const isKnown = after !== null && after.until <= end;
    const stream = new Stream(place, sink, isAdmitted, isKnown ? after : startOf(end, end));
    this.end ??= end;
    this.streams.add(stream);
    for (const { task, everyMs, quietEveryMs } of this.tasks)
      task.start(() => (this.activity.isQuiet ? quietEveryMs : everyMs));
    sink.begin(stream.position);
    if (this.isClosed()) this.close(stream);
    void this.catchUp(stream);
    return () => {
      this.close(stream);
    };
  }

  /** Ends all streams. */
  closeAll(): void {
    this.closed = true;
    for (const stream of this.streams) this.close(stream);
  }

  /** Call it after `closeAll`. */
  async stop(): Promise<void> {
    await Promise.all(this.tasks.map(({ task }) => task.close()));
  }

  private isClosed(): boolean {
    return this.closed;
  }

  /** Reads what the stream has missed, until it is up to date. */
  private async catchUp(stream: Stream): Promise<void> {
    try {
      while (stream.isOpen()) {
        const hasRead = stream.sink.drained().then(() => true);
        if (!(await withTimeout(hasRead, SLOWEST_PAGE_MS, () => false))) {
          this.cut(stream);
          return;
        }
        const { from, until } = stream.position;
        if (from < until) {
          const { events, next } = await this.log.read(stream.accountId, stream.position);
          this.send(stream, events);
          stream.position = next ?? startOf(until, until);
        } else if (this.end !== null && until < this.end) {
          stream.position = startOf(until, this.end);
        } else if (until === this.end) {
          if (stream.isOpen()) this.current.add(stream);
          return;
        } else {
          // The client resumes a stream of a process that has read further than this one: wait until it has, too.
          await sleep(READ_EVERY_MS);
        }
      }
    } catch {
      // The client reconnects and resumes.
      this.close(stream);
    }
  }

  private async readNew(): Promise<void> {
    const { end: from, current: readers } = this;
    if (from === null || this.streams.size === 0) {
      this.end = null;
      return;
    }
    // A key may have expired while the installation was quiet.
    if (performance.now() - this.admittedAt > 2 * ADMIT_EVERY_MS) await this.admit();
    this.current = new Set();
    const read = await this.log
      .readNew([...new Set([...readers].map(({ accountId }) => accountId))], from)
      .catch(() => null);
    const joined = this.current;
    this.current = readers;
    if (read === null) {
      for (const stream of joined) readers.add(stream);
      return;
    }
    this.end = read.until;
    const part = startOf(from, read.until);
    for (const stream of readers) {
      const page = read.pages.get(stream.accountId);
      if (!stream.isOpen()) readers.delete(stream);
      else if (page === undefined) continue;
      else if (stream.sink.waitingBytes > MAX_WAITING_BYTES) this.fallBehind(stream, part);
      else {
        this.send(stream, page.events);
        if (page.next !== null) this.fallBehind(stream, page.next);
      }
    }
    for (const stream of joined) this.fallBehind(stream, part);
  }

  private fallBehind(stream: Stream, position: Position): void {
    this.current.delete(stream);
    stream.position = position;
    void this.catchUp(stream);
  }

  private send(stream: Stream, events: readonly MessageEvent[]): void {
    if (!stream.isOpen() || events.length === 0) return;
    stream.sink.send(events);
    this.observer.sent(events.length);
  }

  private async admit(): Promise<void> {
    this.admittedAt = performance.now();
    await Promise.all(
      [...this.streams].map(async (stream) => {
        // The check fails while the database is away, and then there are no events to send.
        if (!(await stream.isAdmitted().catch(() => true))) this.close(stream);
      }),
    );
  }

  private async renew(): Promise<void> {
    const renewed = [...this.streams];
    if (renewed.length === 0) return;
    const kept = await this.places.renew(renewed.map(({ place }) => place)).catch(() => null);
    for (const stream of renewed) if (kept?.has(stream.place.token) === false) this.close(stream);
  }

  private sendHeartbeats(): Promise<void> {
    for (const { sink } of this.streams) sink.heartbeat();
    return Promise.resolve();
  }

  private cut(stream: Stream): void {
    this.observer.cut();
    stream.sink.cut();
    this.remove(stream);
  }

  private close(stream: Stream): void {
    stream.sink.end();
    this.remove(stream);
  }

  private remove(stream: Stream): void {
    if (!stream.isOpen()) return;
    stream.close();
    this.streams.delete(stream);
    this.current.delete(stream);
    this.leave(stream.place);
  }

  private leave(place: StreamPlace): void {
    // Otherwise it is free again after some seconds.
    this.places.leave(place).catch(() => undefined);
  }
}

/** The position before the events of a part. */
function startOf(from: bigint, until: bigint): Position {
  return { from, until, id: 0n };
}
