import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { usablePort } from '../../apps/dev/port.js';

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
    const port = (await usablePort(0, '127.0.0.1')) ?? 0;
    const settings = [
      '--appendonly',
      'yes',
      '--appendfsync',
      'everysec',
      '--save',
      '',
      '--maxmemory-policy',
      'noeviction',
    ];
    const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...settings], {
      stdio: 'ignore',
    });
    // Ends Redis even if this process fails.
    process.once('exit', () => child.kill('SIGKILL'));
    const redis = new BenchRedis(`redis://127.0.0.1:${port}`, version, child);
    await redis.empty(redis.url);
    return redis;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The URL of an empty database, used by nothing else. */
  async database(): Promise<string> {
    const url = `${this.url}/${this.used++ % DATABASES}`;
    await this.empty(url);
    return url;
  }

  private async empty(url: string): Promise<void> {
    const client = new Redis(url, { maxRetriesPerRequest: 50 });
    // Redis refuses connections until it listens; the client retries.
    client.on('error', () => undefined);
    await client.flushdb();
    client.disconnect();
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }
}

function installed(): string | null {
  try {
    return /v=(\S+)/.exec(execFileSync('redis-server', ['--version']).toString())?.[1] ?? 'of unknown version';
  } catch {
    return null;
  }
}
