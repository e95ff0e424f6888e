import { createConnection, type Socket } from 'node:net';

const RECONNECT_AFTER_MS = 20;
const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = '\r\n0\r\n\r\n';

/**
 * One HTTP/1.1 keep-alive connection, with one request at a time. It parses only the status and length of a
 * response, so that the generator uses little CPU of the machine it shares with the server.
 */
export class Connection {
  private socket: Socket | null = null;
  private received: Buffer | null = null;
  private waiting: ((status: number | null) => void) | null = null;
  private readonly host: string;
  private readonly port: number;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.host = hostname;
    this.port = Number(port);
  }

  /** Resolves when the connection is open or has failed. Optional: the first request opens it too. */
  open(): Promise<void> {
    const socket = (this.socket ??= this.connect());
    return new Promise((resolve) => {
      socket.once('connect', resolve).once('close', () => {
        resolve();
      });
    });
  }

  /** @param done called with the status, or with null if the connection ended before the response was complete */
  send(request: Buffer, done: (status: number | null) => void): void {
    this.waiting = done;
    this.socket ??= this.connect();
    this.socket.write(request);
  }

  close(): void {
    this.waiting = null;
    this.socket?.destroy();
    this.socket = null;
  }

  private connect(): Socket {
    const socket = createConnection({ host: this.host, port: this.port, noDelay: true });
    socket.on('data', (chunk) => {
      this.take(chunk);
    });
    // An error is followed by `close`, which reports the request as lost.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.received = null;
      // Wait before reconnecting to a server that refuses connections.
      setTimeout(() => {
        this.settle(null);
      }, RECONNECT_AFTER_MS);
    });
    return socket;
  }

  private take(chunk: Buffer): void {
    const bytes = this.received === null ? chunk : Buffer.concat([this.received, chunk]);
    const end = bytes.indexOf(HEAD_END);
    const head = end < 0 ? '' : bytes.toString('latin1', 0, end + 2);
    if (end < 0 || !isComplete(head, bytes.subarray(end + HEAD_END.length))) {
      this.received = bytes;
      return;
    }
    this.received = null;
    if (/\r\nconnection: *close\r/i.test(head)) {
      this.socket?.destroy();
      this.socket = null;
    }
    this.settle(Number(head.slice(9, 12)));
  }

  private settle(status: number | null): void {
    const { waiting } = this;
    this.waiting = null;
    waiting?.(status);
  }
}

/** @param head ends with a line break */
function isComplete(head: string, body: Buffer): boolean {
  const length = /\r\ncontent-length: *(\d+)\r/i.exec(head)?.[1];
  if (length !== undefined) return body.length >= Number(length);
  if (/\r\ntransfer-encoding: *chunked\r/i.test(head))
    return `\r\n${body.toString('latin1', Math.max(0, body.length - LAST_CHUNK.length))}`.endsWith(LAST_CHUNK);
  throw new Error(`A response without Content-Length:\n${head}`);
}
