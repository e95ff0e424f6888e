import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './processes.js';

/** A TCP proxy to a database, or a Redis, that can be slow, cut, hang, or change what is sent. */
export class Link {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((near) => {
    this.carry(near);
  });
  private target = new URL('postgres://localhost');
  private port = 0;
  private stalled = false;
  private losing: string | null = null;
  /** Delay of each piece in both directions. */
  delayMs = 0;
  /** Changes what is sent to the database; must keep its length. */
  rewrite: ((sent: string) => string) | null = null;
  /** Is sent to each client, which is not connected to the database then. */
  rejection: Buffer | null = null;

  /** @returns the URL of the database through this proxy */
  async open(databaseUrl: string): Promise<string> {
    this.target = new URL(databaseUrl);
    this.port = await freePort();
    await this.restore();
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /** From now on, new connections lead to another server; open ones stay. */
  lead(url: string): void {
    this.target = new URL(url);
  }

  /** Closes all connections and accepts no new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.reset();
    await closed;
  }

  async restore(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
  }

  /** Closes all connections, and accepts new ones. */
  reset(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Holds up everything, on open and on new connections. */
  stall(): void {
    this.stalled = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Delivers what was held up. */
  resume(): void {
    this.stalled = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Silences the open connections without closing them; new ones work. */
  abandon(): void {
    for (const socket of this.sockets) socket.pause();
  }

  /** Delivers the next request that contains this text, and closes its connection instead of delivering the response. */
  loseResponseTo(text: string): void {
    this.losing = text;
  }

  private carry(near: Socket): void {
    near.on('error', () => undefined);
    const { rewrite, rejection } = this;
    if (rejection !== null) {
      near.once('data', () => near.end(rejection));
      return;
    }
    const far = connect(Number(this.target.port), this.target.hostname);
    const forth = this.delayed(far);
    const back = this.delayed(near);
    let lost = false;
    near.on('data', (piece) => {
      if (this.losing !== null && piece.includes(this.losing)) {
        this.losing = null;
        lost = true;
      }
      forth(rewrite === null ? piece : Buffer.from(rewrite(piece.toString('latin1')), 'latin1'));
    });
    far.on('data', (piece) => {
      if (lost) near.destroy();
      else back(piece);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
      if (this.stalled) one.pause();
    }
  }

  /** Passes pieces on in their order, also when the delay changes. */
  private delayed(to: Socket): (piece: string | Buffer) => void {
    const held: (string | Buffer)[] = [];
    return (piece) => {
      if (this.delayMs === 0 && held.length === 0) {
        to.write(piece);
        return;
      }
      held.push(piece);
      setTimeout(() => to.write(held.shift() ?? ''), this.delayMs);
    };
  }
}
