const CR = 0x0d;
const LF = 0x0a;
const ZERO = 0x30;
const TWO = 0x32;

/** A status line up to its status. */
const INFORMATIONAL = /^H(T(T(P(\/(1(\.(\d( (1(\d\d?)?)?)?)?)?)?)?)?)?)?$/;
const STATUS_END = 'HTTP/1.1 100'.length;
const HEAD_END = '\r\n\r\n';

/**
 * Lets responses 100 pass that nobody has asked for, as some servers send them before each answer, by making them 102: a
 * client ignores both (RFC 9110, section 15.2), but undici takes a 100 for a fault and closes the connection. One for each
 * request.
 */
export class UnrequestedContinue {
  /** The status line up to its status. */
  private line = '';
  /** As much of HEAD_END as was read last. */
  private end = 0;
  private isOver = false;

  /** @param received the next bytes of an answer, in pieces of any size; changed in place, before the parser reads them */
  pass(received: Buffer): void {
    for (let at = 0; at < received.length && !this.isOver; at++) {
      const byte = received[at] ?? 0;
      if (this.line.length < STATUS_END) {
        if (this.line === '' && (byte === CR || byte === LF)) continue;
        this.line += String.fromCharCode(byte);
        this.isOver = !INFORMATIONAL.test(this.line);
        if (byte === ZERO && this.line.endsWith(' 100')) received[at] = TWO;
      } else {
        this.end = byte === HEAD_END.charCodeAt(this.end) ? this.end + 1 : Number(byte === CR);
        if (this.end < HEAD_END.length) continue;
        this.line = '';
        this.end = 0;
      }
    }
  }
}
