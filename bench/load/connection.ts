import { createConnection, type Socket } from 'node:net';

const RECONNECT_AFTER_MS = 20;
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * One keep-alive connection of HTTP/1.1, which carries one request at a time. It reads no more of an answer than its
 * status and length, so that the generator takes as little as possible of the machine it shares with what it measures.
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

  /** Resolves when it is open, or can't be. Without it, the first request opens it. */
  open(): Promise<void> {
    const socket = (this.socket ??= this.connect());
    return new Promise((resolve) => {
      socket.once('connect', resolve).once('close', () => {
        resolve();
      });
    });
  }

  /** @param answered called with the status; with null when the connection ended before the answer was whole */
  send(request: Buffer, answered: (status: number | null) => void): void {
    this.waiting = answered;
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
    // What went wrong is told by the answer that doesn't come.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.received = null;
      // A server that refuses connections is not asked again at once, and again.
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
    const length = /\r\ncontent-length: *(\d+)\r/i.exec(head)?.[1];
    if (end >= 0 && length === undefined) throw new Error(`An answer without Content-Length:\n${head}`);
    if (end < 0 || bytes.length < end + 4 + Number(length)) {
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
