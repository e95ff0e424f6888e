import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What a name server answers to each query: addresses of IPv4, or a code of DNS; nothing if null. */
export type NameAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | null;

const CODES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
const TYPE_A = 1;

/** A name server on this machine. @returns its address, for a resolver */
export async function startNameServer(answer: NameAnswer): Promise<{ address: string; stop: () => void }> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    if (answer === null) return;
    const endOfName = query.indexOf(0, 12) + 1;
    const question = query.subarray(12, endOfName + 4);
    const isA = query.readUInt16BE(endOfName) === TYPE_A;
    const found = Array.isArray(answer) && isA ? (answer as readonly string[]) : [];
    const records = found.map((one) =>
      Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...one.split('.').map(Number)]),
    );
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 + (typeof answer === 'string' ? CODES[answer] : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, question, ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, stop: () => socket.close() };
}
