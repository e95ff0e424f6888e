import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a database that can be cut, and that can hang: nothing is closed, and nothing arrives. */
export class StallingLink {
  private readonly server = createServer((near) => {
    this.carry(near);
  });
  private readonly sockets = new Set<Socket>();
  private target = new URL('postgres://localhost');
  private port = 0;
  private stalled = false;

  /** @returns the URL of the same database by this way */
  async open(databaseUrl: string): Promise<string> {
    this.target = new URL(databaseUrl);
    await this.restore();
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
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

  private carry(near: Socket): void {
    const far = connect(Number(this.target.port), this.target.hostname);
    const ways = [
      { from: near, to: far },
      { from: far, to: near },
    ];
    for (const { from, to } of ways) {
      this.sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      if (this.stalled) from.pause();
    }
  }
}
