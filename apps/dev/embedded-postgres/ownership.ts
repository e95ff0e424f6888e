import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { UsageError } from '#platform/process/usage-error.js';

/** Arbitrary, but the same in every version of this program. */
const LOCK = 7_885_301_204;

export function inUse(dataDir: string): UsageError {
  return new UsageError(
    `${dataDir} is in use by another running sluice: stop that one, or set DATA_DIR to another folder.`,
  );
}

/** Marks a server as used by this process: an advisory lock, which PostgreSQL releases when its connection ends. */
export class Ownership {
  private released = false;

  private constructor(
    private readonly config: ClientConfig,
    private client: Client,
  ) {
    this.watch(client);
  }

  /** Undefined if another process owns it. Rejects if the server does not respond. */
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

  /** When one backend crashes, PostgreSQL drops all connections and goes on. */
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
  const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [LOCK]);
  if (rows[0]?.mine) return client;
  await client.end();
  return undefined;
}
