const CR = 0x0d;
const LF = 0x0a;

/**
 * Lets responses 100 pass that nobody has asked for, as some servers send them before each answer, by making them 102: a
 * client ignores both (RFC 9110, section 15.2), but undici takes a 100 for a fault and closes the connection.
 * @param received bytes of an answer before its headers are complete; changed in place, before the parser reads them
 */
export function passContinue(received: Buffer): void {
  let at = 0;
  while (at < received.length) {
    while (received[at] === CR || received[at] === LF) at++;
    const statusLine = received.toString('latin1', at, at + 12);
    if (!statusLine.startsWith('HTTP/1.1 1')) return;
    if (statusLine.endsWith('100')) received.write('2', at + 11);
    const end = received.indexOf('\r\n\r\n', at);
    if (end === -1) return;
    at = end;
  }
}
