import type { Deliveries } from '#messages/application/deliveries.js';
import type { Messages } from '#messages/application/messages.js';
import type { Message } from '#messages/domain/message.js';

/** What `Messages.add` stores of a message. */
export type Part = 'message' | 'outbox entry' | 'idempotency record';

export const NOTHING: Readonly<Record<Part, readonly string[]>> = {
  message: [],
  'outbox entry': [],
  'idempotency record': [],
};

export interface MessagesSubject {
  /** Two processes on the same store. */
  readonly messages: Messages;
  readonly other: Messages;
  readonly deliveries: Deliveries;
  /** Ids of messages, by part of which there is one in the store. */
  stored(): Promise<Record<Part, string[]>>;
  /** Makes the store refuse one part of one message, at once or only when it comes to commit. */
  refuse(part: Part, message: Message, when?: 'at once' | 'at commit'): Promise<void>;
  relent(): Promise<void>;
  /** Lets each idempotency record take a while, so that processes that store some meet. */
  slowDown(): Promise<unknown>;
  /** A process that stores a message with a key and stops before its commit. */
  stopWhileAdding(message: Message, key: string): Promise<Record<'commit' | 'crash', () => Promise<unknown>>>;
  /** Makes all keys older. */
  ageKeys(ms: number): Promise<unknown>;
  /** Resolves when another request waits for such a process. */
  somebodyWaits(): Promise<void>;
  /** Makes the next look-up of used keys fail once, after the commit before it. */
  failNextLookUp(): Promise<void>;
  /** Cuts all connections of the processes to the store. */
  cutOff(): Promise<unknown>;
  /** A process that changes a message to this and has not committed yet: others wait. */
  changeUntilCommit(message: Message): Promise<{ commit: () => Promise<unknown> }>;
  /** Has a message stored as it is. */
  put(message: Message): Promise<void>;
  /** The errors of the store since it was emptied. */
  faults(): string[];
  /** Empties the store, which then refuses nothing. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
