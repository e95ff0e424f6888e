import { once } from 'node:events';
import { request, type Agent, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expectDocumented, type RequestLine } from './documented.js';

/** What a server responded, byte for byte. */
export class HttpResponse {
  /** @param headers by their names in lower case; a header that was sent twice is joined by ", " */
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>>,
    readonly bytes: Buffer,
  ) {}

  /** Its JSON. */
  get body(): Record<string, unknown> {
    return JSON.parse(this.bytes.toString()) as Record<string, unknown>;
  }
}

export interface Call {
  readonly method?: string;
  readonly path?: string;
  /** An array sends the header once for each value; undefined leaves out one that is there by default. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
}

/**
 * One request, sent as given: the only further headers are Host, Connection and, with a body, Content-Length.
 * The OpenAPI document must contain the response.
 */
export async function call(url: string, request: Call = {}): Promise<HttpResponse> {
  const response = await callUndocumented(url, request);
  expectDocumented({ method: request.method ?? 'GET', target: request.path ?? '/' }, response);
  return response;
}

/** The same for a server that the OpenAPI document does not describe: the management port. */
export async function callUndocumented(
  url: string,
  { method = 'GET', path = '/', headers = {}, body, agent }: Call = {},
): Promise<HttpResponse> {
  const { hostname, port } = new URL(url);
  const all: Call['headers'] =
    body === undefined ? headers : { 'content-length': `${Buffer.byteLength(body)}`, ...headers };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const outgoing = request({ hostname, port, method, path, headers: sent as OutgoingHttpHeaders, agent });
  // After a response, the rest of the request may be refused.
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return new HttpResponse(incoming.statusCode ?? 0, headersOf(incoming.rawHeaders), await buffer(incoming));
}

/** A connection that sends anything, valid HTTP or not. */
export class RawConnection {
  private received: Buffer = Buffer.alloc(0);
  private sent = '';
  private responses = 0;
  private failure: Error | null = null;
  private ended = false;
  private wake: () => void = () => undefined;

  private constructor(readonly socket: Socket) {
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
  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  write(text: string | Buffer): void {
    this.sent += text.toString('latin1');
    this.socket.write(text);
  }

  /** Goes on to send this until the connection closes. */
  drip(text: string, everyMs: number): void {
    const timer = setInterval(() => this.socket.write(text), everyMs).unref();
    this.socket.on('close', () => {
      clearInterval(timer);
    });
  }

  /**
   * The next response, also an interim one (100). Its body must have a Content-Length, and the OpenAPI document must
   * contain it.
   * @throws Error when the connection ends without one
   */
  async response(): Promise<HttpResponse> {
    for (;;) {
      const response = this.take();
      if (response !== null) {
        if (response.status >= 200) expectDocumented(requestsIn(this.sent)[this.responses++], response);
        return response;
      }
      if (this.ended) throw this.failure ?? new Error(`The connection ended after: ${this.received.toString()}`);
      await this.change();
    }
  }

  /** Resolves when the server has ended its side, to what it sent after the last response. */
  async end(): Promise<string> {
    while (!this.ended) await this.change();
    return this.received.toString('latin1');
  }

  /** Resolves when the server has ended the connection without a further response, and reads nothing more. */
  async refused(): Promise<void> {
    expect(await this.end()).toBe('');
    this.drip('x', 20);
    while (this.failure === null && !this.socket.destroyed) await this.change();
    this.close();
  }

  close(): void {
    this.socket.destroy();
  }

  private change(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }

  private take(): HttpResponse | null {
    const first = responseIn(this.received);
    if (first === null) return null;
    this.received = first.rest;
    return first.response;
  }
}

/** The first response in what was received, and the rest; null while it is incomplete. */
function responseIn(received: Buffer, method = 'GET'): { response: HttpResponse; rest: Buffer } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const headers = headersOf(lines.flatMap((line) => line.split(/: (.*)/, 2)));
  const start = end + 4;
  const length = method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
  if (received.length < start + length) return null;
  const bytes = received.subarray(start, start + length);
  const response = new HttpResponse(Number(statusLine.split(' ')[1]), headers, bytes);
  return { response, rest: received.subarray(start + length) };
}

/** The requests in what was sent, as far as they can be parsed. */
function requestsIn(text: string): RequestLine[] {
  const requests: RequestLine[] = [];
  const head = /(?:\r\n)*([A-Z-]+) (\S+) HTTP\/1\.[01]\r\n(?:([^]*?\r\n)?\r\n)?/y;
  for (let found = head.exec(text); found !== null; found = head.exec(text)) {
    const [, method = '', target = '', headers = ''] = found;
    requests.push({ method, target });
    head.lastIndex += Number(/^content-length: *(\d+)/im.exec(headers)?.[1] ?? 0);
    if (/^transfer-encoding: *chunked/im.test(headers)) head.lastIndex = text.indexOf('0\r\n\r\n', head.lastIndex) + 5;
  }
  return requests;
}

/** The first response to a text. */
export async function exchange(url: string, text: string | Buffer): Promise<HttpResponse> {
  const connection = await RawConnection.open(url);
  try {
    connection.write(text);
    return await connection.response();
  } finally {
    connection.close();
  }
}

/** The only response to a text: afterwards the server closes the connection. @param drip is sent again and again */
export async function lastExchange(url: string, text: string, drip?: string): Promise<HttpResponse> {
  const connection = await RawConnection.open(url);
  connection.write(text);
  if (drip !== undefined) connection.drip(drip, 100);
  const response = await connection.response();
  await connection.refused();
  return response;
}

/**
 * What a server responds to a text until it ends the connection, byte for byte. The OpenAPI document must contain the
 * first response.
 */
export async function onTheWire(url: string, text: string): Promise<string> {
  const connection = await RawConnection.open(url);
  connection.write(text);
  const received = await connection.end();
  connection.close();
  const [asked] = requestsIn(text);
  let first = responseIn(Buffer.from(received, 'latin1'), asked?.method);
  while (first !== null && first.response.status < 200) first = responseIn(first.rest, asked?.method);
  if (first !== null) expectDocumented(asked, first.response);
  return received;
}

/** The head of a request, as it is sent. */
export function lines(...all: string[]): string {
  return [...all, '', ''].join('\r\n');
}

/** The head of a request to send a message. */
export function postLines(key: string, ...more: string[]): string {
  const type = 'Content-Type: application/json';
  return lines('POST /messages HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${key}`, type, ...more);
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

/** The headers that responses to equal requests share: all but the date and what counts down. */
export function uncounted({ date, ratelimit, ...headers }: HttpResponse['headers']): HttpResponse['headers'] {
  const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset, ...others } = headers;
  return [date, ratelimit, remaining, reset].includes(undefined) ? {} : others;
}

/** A request may be admitted and counted, and get 503 only because its key could not be verified again soon enough. */
export function isLate({ status, bytes }: HttpResponse): boolean {
  return status === 503 && bytes.includes('Could not verify the API key in time.');
}

/** Repeats a request until a busy machine is not late for it; each of them may have been carried out. */
export async function inTime(ask: () => Promise<HttpResponse>): Promise<HttpResponse> {
  const response = await ask();
  return isLate(response) ? inTime(ask) : response;
}
