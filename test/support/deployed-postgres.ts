import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../apps/dev/embedded-postgres/embedded-postgres.js';
import { descendants, freePort, killAll } from './processes.js';
import { asOwner } from './roles.js';

/** A PostgreSQL that can be killed, paused and restarted with its data and under the same URL. */
export class DeployedPostgres {
  private paused: number[] = [];

  private constructor(
    private server: EmbeddedPostgres,
    private readonly dataDir: string,
    private readonly settings: Readonly<Record<string, string>>,
  ) {}

  /** Unlike the server of other tests, it commits with fsync. */
  static async start(dataDir: string, settings: Readonly<Record<string, string>>): Promise<DeployedPostgres> {
    const server = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings, port: await freePort() });
    return new DeployedPostgres(server, dataDir, settings);
  }

  get url(): string {
    return this.server.url;
  }

  /** The server and all its backends. */
  private family(): number[] {
    return [this.server.pid, ...descendants(this.server.pid)];
  }

  /** Kills it and all its backends without warning. */
  async kill(): Promise<void> {
    killAll(this.family());
    await this.server.exited;
  }

  /** Immediate shutdown: closes connections without a checkpoint. */
  async quit(): Promise<void> {
    process.kill(this.server.pid, 'SIGQUIT');
    await this.server.exited;
  }

  /** Resolves when it accepts connections again. */
  async restart(): Promise<void> {
    const { dataDir, settings } = this;
    this.server = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings, port: this.server.port });
  }

  /** What a failover to a standby is for its clients: shut down immediately, and in recovery until it is promoted. */
  async failOver(): Promise<void> {
    await this.quit();
    await writeFile(join(this.dataDir, 'standby.signal'), '');
    await this.restart();
    await asOwner(this.url, 'SELECT pg_promote()');
  }

  /** Suspends the server and all its backends. */
  pause(): void {
    this.paused = this.family();
    for (const pid of this.paused) process.kill(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.paused.splice(0)) process.kill(pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    this.resume();
    await this.server.stop();
  }
}
