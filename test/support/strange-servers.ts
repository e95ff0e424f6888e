import { createServer } from 'node:net';
import { listen } from './processes.js';

/** What a server does, what it sends, and what is said of it. */
type Strange = readonly [what: string, sent: Buffer, sentence: RegExp];

const UNSUPPORTED: readonly Strange[] = [
  ['asks for Kerberos', authentication(2), /by Kerberos V5, which Sluice does not support/],
  ['asks for SCM credentials', authentication(6), /by SCM credentials, which/],
  ['asks for GSSAPI', authentication(7), /by GSSAPI, which Sluice does not support: allow scram-sha-256/],
  ['goes on with GSSAPI', authentication(8, 'token'), /by GSSAPI, which/],
  ['asks for SSPI', authentication(9), /by SSPI, which/],
  ['asks for an unknown authentication', authentication(99), /by an unknown method \(99\), which/],
  [
    'offers only channel binding',
    authentication(10, 'SCRAM-SHA-256-PLUS\0\0'),
    /cannot be used: SASL: Mechanism SCRAM-SHA-256-PLUS requires a certificate\./,
  ],
  [
    'offers only OAuth',
    authentication(10, 'OAUTHBEARER\0\0'),
    /cannot be used: SASL: Only mechanism\(s\) .* are supported\./,
  ],
  ['offers no mechanism', authentication(10, '\0'), /cannot be used: SASL: Only mechanism\(s\) .* are supported\./],
];

const NOT_UNDERSTOOD: readonly (readonly [what: string, sent: Buffer])[] = [
  ['goes on with what has not begun', authentication(11, 'r=1')],
  ['ends what has not begun', authentication(12, 'v=1')],
  ['accepts and then describes rows of no query', Buffer.concat([authentication(0), framed('T', '\0\0')])],
  ['accepts and then sends an unknown message', Buffer.concat([authentication(0), framed('x', '')])],
  ['accepts and then sends a garbled row', Buffer.concat([authentication(0), framed('D', '')])],
  ['wants another protocol', framed('v', '\0\x03\0\0\0\0\0\0')],
  ['is ready without authentication', framed('Z', 'I')],
  ['is of before 7.4', Buffer.from('EFATAL:  unsupported frontend protocol\n\0')],
  ['is a MySQL', Buffer.from('J\0\0\0\n5.7.30\0abcdefgh\0')],
  ['is an HTTP server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['is a Redis', Buffer.from('-ERR unknown command\r\n')],
  ['is an SSH server', Buffer.from('SSH-2.0-OpenSSH_9.2\r\n')],
  ['is a mail server', Buffer.from('220 mail.example ESMTP\r\n')],
];

/** What servers send that pg does not support or understand. */
export const STRANGE: readonly Strange[] = [
  ...UNSUPPORTED,
  ...NOT_UNDERSTOOD.map(([what, sent]): Strange => [
    what,
    sent,
    /was reached, but does not respond as PostgreSQL does\./,
  ]),
];

/** A message of PostgreSQL. */
export function framed(type: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content, 'latin1')]);
}

function authentication(code: number, content = ''): Buffer {
  return framed('R', `\0\0\0${String.fromCharCode(code)}${content}`);
}

/** Says this when it is connected to, and never hangs up. */
export async function strangeServer(greeting: Buffer) {
  const server = createServer((socket) => socket.on('error', () => undefined).write(greeting));
  const { host } = new URL(await listen(server));
  return { url: `postgres://sluice@${host}/sluice`, remove: () => Promise.resolve(server.close()) };
}
