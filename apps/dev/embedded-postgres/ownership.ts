import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';

/** Any number will do, as long as every version of this program uses the same. */
const lockNumber = 7_885_301_204;

/**
 * The sign that a living process uses this server: an advisory lock, which PostgreSQL frees by itself when the
 * connection of its holder ends, however the holder ended.
 */
export class Ownership {
  private released = false;

  private constructor(
    private readonly config: ClientConfig,
    private client: Client,
  ) {
    this.watch(client);
  }

  /** Undefined if another process has it. Rejects if the server cannot be asked. */
  static async claim(config: ClientConfig): Promise<Ownership | undefined> {
    const client = await connectAndLock(config);
    return client && new Ownership(config, client);
  }

  async query(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.client.query<Record<string, unknown>>(sql, values)).rows;
  }

  async release(): Promise<void> {
    this.released = true;
    await this.client.end().catch(() => undefined);
  }

  private isReleased(): boolean {
    return this.released;
  }

  /** A crash of any backend makes PostgreSQL drop all connections while the server lives on. */
  private watch(client: Client): void {
    client.once('end', () => void this.claimAgain());
  }

  private async claimAgain(): Promise<void> {
    while (!this.isReleased()) {
      const client = await connectAndLock(this.config).catch(() => undefined);
      if (client) {
        this.client = client;
        if (this.isReleased()) await this.release();
        else this.watch(client);
        return;
      }
      await sleep(200, undefined, { ref: false });
    }
  }
}

async function connectAndLock(config: ClientConfig): Promise<Client | undefined> {
  const client = new Client(config);
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [lockNumber]);
  if (rows[0]?.mine) return client;
  await client.end();
  return undefined;
}
