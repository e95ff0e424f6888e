import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../apps/dev/port.js';

/** Of a Redis with default settings. */
const DATABASES = 16;

/** Redis for the ordinary stack and for Sluice, configured for a queue: an append-only file, synced every second. */
export class BenchRedis {
  private used = 0;

  private constructor(
    readonly url: string,
    readonly version: string,
    private readonly child: ChildProcess,
  ) {}

  /** @returns null where redis-server is not installed */
  static async start(folder: string): Promise<BenchRedis | null> {
    const version = installed();
    if (version === null) return null;
    const settings = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'];
    const { port, child } = await run(folder, settings);
    const redis = new BenchRedis(`redis://127.0.0.1:${port}`, version, child);
    await send(redis.url, (client) => client.flushdb());
    return redis;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The URL of an empty database, used by nothing else. */
  async database(): Promise<string> {
    const url = `${this.url}/${this.used++ % DATABASES}`;
    await send(url, (client) => client.flushdb());
    return url;
  }

  async stop(): Promise<void> {
    await stopped(this.child);
  }
}

/** A Redis Cluster of masters without replicas. */
export class BenchRedisCluster {
  private constructor(
    private readonly servers: readonly Awaited<ReturnType<typeof run>>[],
    private readonly folder: string,
  ) {}

  static async start(masters: number): Promise<BenchRedisCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-cluster-'));
    const servers = [];
    for (let n = 0; n < masters; n++) {
      const its = join(folder, String(n));
      await mkdir(its);
      const busPort = String(await freePort());
      servers.push(await run(its, ['--cluster-enabled', 'yes', '--cluster-port', busPort]));
    }
    const cluster = new BenchRedisCluster(servers, folder);
    try {
      const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
      await Promise.all(addresses.map((address) => send(`redis://${address}`, (client) => client.ping())));
      // It waits until all know each other.
      execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get settings(): Record<string, string> {
    return { REDIS_URL: this.servers.map(({ port }) => `redis://127.0.0.1:${port}`).join(), REDIS_TOPOLOGY: 'cluster' };
  }

  get pids(): Record<string, number> {
    return Object.fromEntries(this.servers.map(({ child }, n) => [`Redis ${n}`, child.pid ?? 0]));
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map(({ child }) => stopped(child)));
    await rm(this.folder, { recursive: true });
  }
}

async function run(folder: string, settings: readonly string[]) {
  const port = await freePort();
  const address = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const child = spawn('redis-server', [...address, ...settings], { stdio: 'ignore' });
  // Ends Redis even if this process fails.
  process.once('exit', () => child.kill('SIGKILL'));
  return { port, child };
}

async function send(url: string, command: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(url, { maxRetriesPerRequest: 50 });
  // Redis refuses connections until it listens; the client retries.
  client.on('error', () => undefined);
  await command(client);
  client.disconnect();
}

async function stopped(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

function installed(): string | null {
  try {
    return /v=(\S+)/.exec(execFileSync('redis-server', ['--version']).toString())?.[1] ?? 'of unknown version';
  } catch {
    return null;
  }
}
