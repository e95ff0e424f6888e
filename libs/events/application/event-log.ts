import type { Message } from '#messages/index.js';

/**
 * A position in the log: everything before `from` has been read, and in the part from `from` until `until` the events up
 * to `id`.
 */
export interface Position {
  readonly from: bigint;
  readonly until: bigint;
  readonly id: bigint;
}

/** A message after its status has changed. */
export interface MessageEvent {
  readonly position: Position;
  readonly message: Message;
}

export interface EventPage {
  readonly events: readonly MessageEvent[];
  /** The position of the last event if there are more; otherwise null. */
  readonly next: Position | null;
}

/**
 * The status changes of messages. They are recorded only for accounts that have a stream or had one within the last
 * hour. The log is read in parts; a part ends where a change may still be in progress, and never changes afterwards.
 */
export abstract class EventLog {
  /** How far the log is complete. */
  abstract end(): Promise<bigint>;

  /**
   * The first page of each of these accounts in the part from `from` on, as far as that is complete.
   * @returns the end of the part; accounts without events are missing
   */
  abstract readNew(
    accountIds: readonly string[],
    from: bigint,
  ): Promise<{ readonly until: bigint; readonly pages: ReadonlyMap<string, EventPage> }>;

  /** The next page of an account in the part of the position. */
  abstract read(accountId: string, after: Position): Promise<EventPage>;

  /** @returns whether there may be more to delete */
  abstract deleteExpired(): Promise<boolean>;
}

/** One of the streams that an account may have open at the same time, over all processes. */
export interface StreamPlace {
  readonly accountId: string;
  readonly number: number;
  readonly token: string;
}

export abstract class StreamPlaces {
  /** @returns null when all places of the account are taken */
  abstract take(accountId: string): Promise<StreamPlace | null>;

  /**
   * Keeps places, which are otherwise free again after some seconds. @returns the tokens of the places that were kept
   */
  abstract renew(places: readonly StreamPlace[]): Promise<ReadonlySet<string>>;

  abstract leave(place: StreamPlace): Promise<void>;
}
