import type { Socket } from 'node:net';

/** Bytes of an answer before its headers are complete, whatever they are. */
const MAX_HEAD_BYTES = 32_768;
/** Bytes of a whole answer: a body of up to 128 KiB is read, so that its connection can be used again. */
const MAX_BYTES = 196_608;
/** Pieces in which an answer arrives: reads of the socket, informational responses, and pieces of the body. */
const MAX_EVENTS = 512;
/** Bytes on the wire: those of many tiny TLS records are far more than what is in them. */
const MAX_WIRE_BYTES = 1_048_576;
/** How often the bytes on the wire are checked: no event tells of records that carry nothing. */
const WIRE_CHECK_MS = 100;

/** A receiver has sent more than an answer may have. */
export class AnswerTooLong extends Error {
  constructor() {
    super('The answer is too long.');
  }
}

/**
 * What a receiver may send for one request, counted where it arrives: parsers of HTTP count neither informational
 * responses nor extensions of chunks nor line ends before an answer, and TLS records may be empty. Beyond it, the
 * connection is destroyed.
 */
export class AnswerBudget {
  private bytes = 0;
  private events = 0;
  private maxBytes = MAX_HEAD_BYTES;
  private wireBytes = 0;
  private readonly check: NodeJS.Timeout;

  /**
   * @param socket what the parser reads
   * @param wire the connection below TLS, or the same socket
   */
  constructor(
    private readonly socket: Socket,
    private readonly wire: Socket,
  ) {
    // Paused, so that a listener does not start the flow: data is emitted when the parser reads it.
    socket.pause();
    socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      this.count();
      // When the parser has seen it: it may be the headers and much of the body.
      queueMicrotask(() => {
        if (this.bytes > this.maxBytes) this.end();
      });
    });
    this.check = setInterval(() => {
      if (this.wire.bytesRead - this.wireBytes > MAX_WIRE_BYTES) this.end();
    }, WIRE_CHECK_MS).unref();
    socket.once('close', () => {
      clearInterval(this.check);
    });
  }

  /** Whether anything has arrived since the request began. */
  get isUntouched(): boolean {
    return this.bytes === 0;
  }

  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  /** Another request begins. */
  renew(): void {
    this.bytes = 0;
    this.events = 0;
    this.maxBytes = MAX_HEAD_BYTES;
    this.wireBytes = this.wire.bytesRead;
  }

  /** The headers are complete. */
  admitBody(): void {
    this.maxBytes = MAX_BYTES;
  }

  /** Another piece of the answer has arrived. */
  count(): void {
    if (++this.events > MAX_EVENTS) this.end();
  }

  private end(): void {
    this.socket.destroy(new AnswerTooLong());
  }
}
