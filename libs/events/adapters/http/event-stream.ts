import { Readable } from 'node:stream';
import type { MessageEvent, Position } from '../../application/event-log.js';
import type { EventSink } from '../../application/event-streams.js';
import { messageView } from '#messages/adapters/http/index.js';

const RECONNECT_MS = 1_000;
const POSITION = /^(\d{1,30})-(\d{1,30})-(\d{1,18})$/;

/** The body of a response in the format of server-sent events. */
export class EventStream extends Readable implements EventSink {
  private resolveDrained: (() => void) | null = null;

  /** Without the bytes that the buffers of the connection already have. */
  get waitingBytes(): number {
    return this.readableLength;
  }

  begin(position: Position): void {
    // An id without data: a client that has got no event yet can resume as well.
    this.push(`retry: ${RECONNECT_MS}\nid: ${idOf(position)}\n\n`);
  }

  send(events: readonly MessageEvent[]): void {
    for (const { position, message } of events) {
      const data = JSON.stringify(messageView(message));
      this.push(`event: message.${message.state.status}\nid: ${idOf(position)}\ndata: ${data}\n\n`);
    }
  }

  heartbeat(): void {
    this.push(':\n\n');
  }

  async drained(): Promise<void> {
    if (this.readableLength < this.readableHighWaterMark || this.destroyed) return;
    await new Promise<void>((resolve) => (this.resolveDrained = resolve));
  }

  end(): void {
    if (!this.destroyed) this.push(null);
  }

  cut(): void {
    this.destroy();
  }

  override _read(): void {
    this.tellDrained();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.tellDrained();
    callback(error);
  }

  private tellDrained(): void {
    this.resolveDrained?.();
    this.resolveDrained = null;
  }
}

/** @returns null without an id, and for a text that is not an id of a stream */
export function readPosition(lastEventId: string | undefined): Position | null {
  const [, from, until, id] = POSITION.exec(lastEventId ?? '') ?? [];
  return from === undefined || until === undefined || id === undefined
    ? null
    : { from: BigInt(from), until: BigInt(until), id: BigInt(id) };
}

function idOf({ from, until, id }: Position): string {
  return `${from}-${until}-${id}`;
}
