import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, until } from './processes.js';

const PROGRAM = ['redis-server', 'valkey-server'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
});

/** Why tests with Redis are skipped; null when they can run. */
export const NO_REDIS = PROGRAM === undefined ? 'there is no redis-server or valkey-server' : null;

/** A Redis of a test's own, which stores nothing on disk. */
export class TestRedis {
  private child!: ChildProcess;

  private constructor(
    private readonly port: number,
    private readonly options: readonly string[],
    private readonly folder: string,
  ) {}

  static async start(...options: string[]): Promise<TestRedis> {
    const redis = new TestRedis(await freePort(), options, mkdtempSync(join(tmpdir(), 'sluice-redis-')));
    await redis.begin();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  private async begin(): Promise<void> {
    const address = ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.folder];
    const options = [...address, '--save', '', '--appendonly', 'no', ...this.options];
    this.child = spawn(PROGRAM ?? '', options, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    this.child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(
      () => output.includes('eady to accept connections'),
      20_000,
      () => output,
    );
  }

  /** Runs commands on a connection of its own. */
  async run<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(this.url);
    redis.on('error', () => undefined);
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  }

  /** Suspends it with SIGSTOP, and goes on with SIGCONT. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(name);
  }

  /** Ends it without warning. */
  async kill(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  /** Starts it again, empty, under the same URL. */
  restart(): Promise<void> {
    return this.begin();
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}
