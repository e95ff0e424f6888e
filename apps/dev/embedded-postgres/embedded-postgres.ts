import { mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type ClientConfig, escapeIdentifier } from 'pg';
import { locateBinaries } from './binaries.js';
import { ensureCluster, readPassword } from './cluster.js';
import { withTimeout } from '#kernel/timeout.js';
import { UsageError } from '#platform/process/usage-error.js';
import { clearLeftovers } from './leftovers.js';
import type { Ownership } from './ownership.js';
import { findPostmaster } from './postmaster.js';
import { chooseRunAs } from './run-as.js';
import { type Server, startServer } from './server.js';

type Settings = Readonly<Record<string, string>>;

interface EmbeddedPostgresOptions {
  /** Created if needed. It must not be on a file system that another machine or container uses at the same time. */
  readonly dataDir: string;
  /** Created if needed. */
  readonly database: string;
  /** Any free one by default. */
  readonly port?: number | undefined;
  /** Settings of postgresql.conf, in addition to the defaults below. */
  readonly settings?: Settings;
  /** Ends a start, which rejects then. */
  readonly stopping?: AbortSignal | undefined;
}

/** After this time a shutdown cuts connections. No commit is lost. */
const SHUTDOWN_TIMEOUT_MS = 20_000;

const DEFAULTS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  cluster_name: 'sluice',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // For small statements, parallel plans and compilation only add cost.
  max_parallel_workers_per_gather: '0',
  jit: 'off',
};

/** A PostgreSQL server on 127.0.0.1 that ends with this process, even if that is killed. */
export class EmbeddedPostgres {
  /** Resolves when the server has ended, for any reason. */
  readonly exited: Promise<void>;

  private constructor(
    readonly url: string,
    private readonly server: Server,
  ) {
    this.exited = server.keeper.exited.then(() => this.release());
  }

  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const settings: Settings = { ...DEFAULTS, ...options.settings };
    const binaries = await locateBinaries();
    const dataDir = await canonical(options.dataDir);
    const runAs = await chooseRunAs(dataDir, binaries);
    await ensureCluster(dataDir, binaries, runAs, settings.fsync !== 'off');
    const password = await readPassword(dataDir);
    const connection = (port: number): ClientConfig => ({
      ...{ host: '127.0.0.1', port, user: 'sluice', password, database: 'postgres' },
      ...{ ssl: false, connectionTimeoutMillis: 5_000 },
    });
    await clearLeftovers(dataDir, connection);
    const { port, stopping } = options;
    const server = await startServer({ dataDir, binaries, runAs, settings, connection, port, stopping });
    const started = new EmbeddedPostgres(urlOf(server.port, password, options.database), server);
    try {
      await ensureDatabase(server.ownership, options.database);
      return started;
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  get port(): number {
    return this.server.port;
  }

  get pid(): number {
    return this.server.pid;
  }

  /** Ends all connections; resolves when everything is on disk and the server has ended. */
  async stop(): Promise<void> {
    await this.release();
    await withTimeout(this.exited, SHUTDOWN_TIMEOUT_MS, () => process.kill(this.pid, 'SIGQUIT'));
    await this.exited;
  }

  private async release(): Promise<void> {
    this.server.keeper.release();
    await this.server.ownership.release();
  }
}

/** The URL of the server that another process runs on this data directory; null when there is none. */
export async function runningUrl(dataDir: string, database: string): Promise<string | null> {
  const postmaster = await findPostmaster(dataDir);
  return postmaster === undefined || postmaster.port === 0
    ? null
    : withoutTls(urlOf(postmaster.port, await readPassword(dataDir), database));
}

/** The server has no certificate, and PGSSLMODE is about another one. */
export function withoutTls(url: string): string {
  return `${url}?sslmode=disable`;
}

function urlOf(port: number, password: string, database: string): string {
  return `postgres://sluice:${password}@127.0.0.1:${port}/${database}`;
}

/** The absolute path without symbolic links, as PostgreSQL reports it. */
async function canonical(dataDir: string): Promise<string> {
  const path = resolve(dataDir);
  try {
    await mkdir(dirname(path), { recursive: true });
    return await realpath(path).catch(async () => join(await realpath(dirname(path)), basename(path)));
  } catch (error) {
    throw new UsageError(
      `${dirname(path)} cannot be used (${String((error as NodeJS.ErrnoException).code)}): set DATA_DIR to a folder that can be written.`,
    );
  }
}

async function ensureDatabase(ownership: Ownership, name: string): Promise<void> {
  const found = await ownership.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (found.length === 0) await ownership.query(`CREATE DATABASE ${escapeIdentifier(name)}`);
}
