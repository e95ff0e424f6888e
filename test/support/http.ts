import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';

/** What a server answered, byte for byte. */
export interface Answer {
  readonly status: number;
  /** By their names in lower case; a header sent twice is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

export interface Call {
  readonly method?: string;
  readonly path?: string;
  /** An array sends the header once for each value; undefined leaves out one that is there by default. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string | Buffer;
}

/** One request, sent exactly as it is told: no header of its own but Host, Connection and the length of the body. */
export function call(url: string, { method = 'GET', path = '/', headers = {}, body }: Call = {}): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, method, path, headers: sent as OutgoingHttpHeaders },
      (incoming: IncomingMessage) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const { statusCode: status = 0, rawHeaders } = incoming;
          resolve({ status, headers: joined(rawHeaders), bytes: Buffer.concat(chunks) });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function joined(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    headers[name] = name in headers ? `${headers[name] ?? ''}, ${value}` : value;
  }
  return headers;
}

export function jsonOf({ bytes }: Answer): Record<string, unknown> {
  return JSON.parse(bytes.toString()) as Record<string, unknown>;
}

/** A connection on which anything can be said, valid HTTP or not. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private failure: Error | null = null;
  /** Resolves when the server has ended the connection, however it did. */
  readonly closed: Promise<void>;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => (this.received = Buffer.concat([this.received, chunk])));
    socket.on('error', (error) => (this.failure = error));
    this.closed = new Promise((resolve) => {
      for (const event of ['end', 'close']) socket.once(event, resolve);
    });
  }

  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  write(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** The next answer, interim ones (100) included. @throws Error when the connection ends without one */
  async answer(): Promise<Answer> {
    for (;;) {
      const answer = this.take();
      if (answer !== null) return answer;
      if (this.socket.readableEnded || this.socket.destroyed) {
        throw this.failure ?? new Error(`The connection ended after: ${this.received.toString()}`);
      }
      await new Promise<void>((resolve) => {
        const events = ['data', 'end', 'close', 'error'];
        const done = () => {
          for (const event of events) this.socket.off(event, done);
          resolve();
        };
        for (const event of events) this.socket.on(event, done);
      });
    }
  }

  /** What has arrived and was not yet taken as an answer. */
  get rest(): string {
    return this.received.toString();
  }

  close(): void {
    this.socket.destroy();
  }

  private take(): Answer | null {
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [statusLine = '', ...lines] = this.received.toString('latin1', 0, end).split('\r\n');
    const headers = joined(lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.replace(/^[^:]*: */, '')]));
    const start = end + 4;
    const length = Number(headers['content-length'] ?? 0);
    if (this.received.length < start + length) return null;
    const bytes = this.received.subarray(start, start + length);
    this.received = this.received.subarray(start + length);
    return { status: Number(statusLine.split(' ')[1]), headers, bytes };
  }
}

/** The answer to a request that is written out in full. */
export async function exchange(url: string, ...parts: (string | Buffer)[]): Promise<Answer> {
  const connection = await RawConnection.open(url);
  try {
    for (const part of parts) connection.write(part);
    return await connection.answer();
  } finally {
    connection.close();
  }
}
