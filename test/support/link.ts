import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a database that can be slow, cut, and hang: what networks do. */
export class Link {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((near) => {
    this.carry(near);
  });
  private target = new URL('postgres://localhost');
  private port = 0;
  private stalled = false;
  private losing: string | null = null;
  /** Milliseconds that each piece takes, in both directions. */
  delayMs = 0;

  /** @returns the URL of the same database by this way */
  async open(databaseUrl: string): Promise<string> {
    this.target = new URL(databaseUrl);
    await this.restore();
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /** Ends all connections and takes no new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.reset();
    await closed;
  }

  async restore(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Ends all connections; new ones are welcome. */
  reset(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** From now on nothing goes through, on connections that are open and on new ones. */
  stall(): void {
    this.stalled = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Delivers what was held up. */
  resume(): void {
    this.stalled = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Connections that are open now never say anything again, and nobody is told; new ones work. */
  abandon(): void {
    for (const socket of this.sockets) socket.pause();
  }

  /** Delivers the next request that contains this text, and ends its connection instead of delivering the answer. */
  loseAnswerTo(text: string): void {
    this.losing = text;
  }

  private carry(near: Socket): void {
    const far = connect(Number(this.target.port), this.target.hostname);
    const forth = this.delayed(far);
    const back = this.delayed(near);
    let lost = false;
    near.on('data', (piece) => {
      if (this.losing !== null && piece.includes(this.losing)) {
        this.losing = null;
        lost = true;
      }
      forth(piece);
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

  /** Passes pieces on in their order, also when the delay changes meanwhile. */
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
