import { request, type OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';

/** What a server answered, byte for byte. */
export interface Answer {
  readonly status: number;
  /** By their names in lower case; a header that was sent twice is joined by ", ". */
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

/** One request, sent as it is told: the only headers of its own are Host, Connection and, with a body, its length. */
export function call(url: string, { method = 'GET', path = '/', headers = {}, body }: Call = {}): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const all: Call['headers'] =
    body === undefined ? headers : { 'content-length': `${Buffer.byteLength(body)}`, ...headers };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers: sent as OutgoingHttpHeaders }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const { statusCode = 0, rawHeaders } = incoming;
        resolve({ status: statusCode, headers: headersOf(rawHeaders), bytes: Buffer.concat(chunks) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export function jsonOf({ bytes }: Answer): Record<string, unknown> {
  return JSON.parse(bytes.toString()) as Record<string, unknown>;
}

/** A connection on which anything can be said, valid HTTP or not. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private failure: Error | null = null;
  private ended = false;
  private wake: () => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    socket.on('error', (error) => {
      this.failure = error;
      this.wake();
    });
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.ended = true;
        this.wake();
      });
    }
  }

  /** Stays open on this side when the server has ended it. */
  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
      const raw = new RawConnection(socket);
      socket.once('connect', () => {
        resolve(raw);
      });
      socket.once('error', reject);
    });
  }

  write(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** Says that nothing more will be sent from this side. */
  finish(): void {
    this.socket.end();
  }

  /** Reads nothing more of what the server says. */
  stopReading(): void {
    this.socket.pause();
  }

  /** Goes on to send this until the connection closes. */
  drip(text: string, everyMs: number): void {
    const timer = setInterval(() => this.socket.write(text), everyMs).unref();
    this.socket.on('close', () => {
      clearInterval(timer);
    });
  }

  /**
   * The next answer, an interim one (100) as well. Its body must have a Content-Length.
   * @throws Error when the connection ends without one
   */
  async answer(): Promise<Answer> {
    for (;;) {
      const answer = this.take();
      if (answer !== null) return answer;
      if (this.ended) throw this.failure ?? new Error(`The connection ended after: ${this.received.toString()}`);
      await this.change();
    }
  }

  /** Resolves when the server has ended its side, to whatever it said since the last answer. */
  async end(): Promise<string> {
    while (!this.ended) await this.change();
    return this.received.toString();
  }

  /** Resolves when the server takes no more from this side. */
  async refused(): Promise<void> {
    this.drip('x', 20);
    while (this.failure === null && !this.socket.destroyed) await this.change();
  }

  close(): void {
    this.socket.destroy();
  }

  private change(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }

  private take(): Answer | null {
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [statusLine = '', ...lines] = this.received.toString('latin1', 0, end).split('\r\n');
    const headers = headersOf(lines.flatMap((line) => line.split(/: (.*)/, 2)));
    const start = end + 4;
    const length = Number(headers['content-length'] ?? 0);
    if (this.received.length < start + length) return null;
    const bytes = this.received.subarray(start, start + length);
    this.received = this.received.subarray(start + length);
    return { status: Number(statusLine.split(' ')[1]), headers, bytes };
  }
}

/** The answer to a request that is written out in full, or as far as it goes. */
export async function exchange(url: string, text: string | Buffer): Promise<Answer> {
  const connection = await RawConnection.open(url);
  try {
    connection.write(text);
    return await connection.answer();
  } finally {
    connection.close();
  }
}

/** A request's lines as they travel. */
export function lines(...all: string[]): string {
  return [...all, '', ''].join('\r\n');
}

function headersOf(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    headers[name] = name in headers ? `${headers[name] ?? ''}, ${value}` : value;
  }
  return headers;
}

/** The headers that two equal requests are answered with: all but the date and what counts down. */
export function uncounted({ date, ratelimit, ...headers }: Answer['headers']): Answer['headers'] {
  const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset, ...others } = headers;
  return [date, ratelimit, remaining, reset].includes(undefined) ? {} : others;
}
