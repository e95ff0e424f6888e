import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a database that can be cut. */
export class DatabaseLink {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private port = 0;
  private target = new URL('postgres://localhost');
  private losing: string | null = null;

  constructor() {
    this.server = createServer((near) => {
      this.carry(near);
    });
  }

  /** @returns the URL of the same database by this way */
  async open(databaseUrl: string): Promise<string> {
    this.target = new URL(databaseUrl);
    await this.restore();
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Ends all connections and takes no new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async restore(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Delivers the next request that contains this text, and ends its connection instead of delivering the answer. */
  loseAnswerTo(text: string): void {
    this.losing = text;
  }

  private carry(near: Socket): void {
    const far = connect(Number(this.target.port), this.target.hostname);
    let lost = false;
    near.on('data', (chunk) => {
      if (this.losing !== null && chunk.includes(this.losing)) {
        this.losing = null;
        lost = true;
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (lost) near.destroy();
      else near.write(chunk);
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
    }
  }
}
