import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisServers } from '#platform/redis/connect-redis.js';
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

/** How a process of Sluice reaches servers. */
export function serversAt(urls: readonly string[], topology: RedisServers['topology']): RedisServers {
  return { urls, topology, sentinel: { master: 'mymaster', password: null } };
}

/** What the user `app` needs at least, as docs/scaling.md lists it for a single server. */
export const LEAST_RIGHTS = ['resetkeys', '~bull:messages*', '+@all', '-@admin', '-@dangerous', '+info'];

/** A URL of the same server, or of a link to it, for the user `app` of `TestRedis.startForApp()`. */
export const asApp = (url: string): string => url.replace('//', '//app:secret@');

/** A Redis of a test's own, which stores nothing on disk. */
export class TestRedis {
  private child!: ChildProcess;

  private constructor(
    private readonly port: number,
    private readonly options: readonly string[],
    private readonly folder: string,
  ) {}

  static async start(...options: string[]): Promise<TestRedis> {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
    // Sentinels store what they learn in it, and what they tell their servers.
    writeFileSync(join(folder, 'redis.conf'), '');
    const redis = new TestRedis(await freePort(), options, folder);
    await redis.begin();
    return redis;
  }

  /** With the user `app`, which has the least rights. */
  static startForApp(): Promise<TestRedis> {
    return TestRedis.start('--user', 'app', 'on', '>secret', ...LEAST_RIGHTS);
  }

  get url(): string {
    const [, password] = this.options.slice(this.options.indexOf('--requirepass'));
    const secret = this.options.includes('--requirepass') ? `:${encodeURIComponent(password ?? '')}@` : '';
    return `redis://${secret}127.0.0.1:${this.port}`;
  }

  private async begin(more: readonly string[] = []): Promise<void> {
    const address = ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.folder];
    const storing = ['--save', '', '--appendonly', 'no'];
    const options = [join(this.folder, 'redis.conf'), ...address, ...storing, ...this.options, ...more];
    // If it outlived its test with a stream of the test runner, that would wait for it.
    this.child = spawn(PROGRAM ?? '', options, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    await until(
      () => /eady to accept connections|Sentinel ID is/.test(output),
      undefined,
      () => output,
    );
  }

  /** How a process of Sluice reaches it. */
  get servers(): RedisServers {
    return serversAt([this.url], 'standalone');
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

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Suspends it with SIGSTOP, and goes on with SIGCONT. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(name);
  }

  /** Ends it without warning. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  /** Starts it again under the same URL, empty if it has stored nothing on disk. */
  restart(...options: string[]): Promise<void> {
    return this.begin(options);
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}

/** How long a server of several must not answer until it counts as failed, unless a test needs that to be soon. */
const FAILED_AFTER_MS = 15_000;
export const FAILED_SOON_MS = 1_500;

/** A master and its replica, with three sentinels that replace it. All have passwords. */
export class TestRedisSentinels {
  static readonly PASSWORD = 'p@ss/word:of%redis';
  static readonly SENTINEL_PASSWORD = 'p@ss/word:of%sentinels';
  static readonly MASTER = 'queue-master';

  private constructor(
    private readonly servers: readonly TestRedis[],
    private readonly sentinels: readonly TestRedis[],
  ) {}

  static async start(failedAfterMs = FAILED_AFTER_MS): Promise<TestRedisSentinels> {
    const { PASSWORD, SENTINEL_PASSWORD, MASTER } = TestRedisSentinels;
    const secret = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
    const master = await TestRedis.start(...secret);
    const replica = await TestRedis.start(...secret);
    const { hostname, port } = new URL(master.url);
    await replica.run((redis) => redis.replicaof(hostname, port));
    const sentinels = await Promise.all(
      [1, 2, 3].map(() => TestRedis.start('--sentinel', '--requirepass', SENTINEL_PASSWORD)),
    );
    const one = new TestRedisSentinels([master, replica], sentinels);
    for (const sentinel of sentinels)
      await sentinel.run(async (redis) => {
        await redis.call('SENTINEL', 'CONFIG', 'SET', 'sentinel-pass', SENTINEL_PASSWORD);
        await redis.call('SENTINEL', 'MONITOR', MASTER, hostname, port, 2);
        const settings = ['auth-pass', PASSWORD, 'down-after-milliseconds', failedAfterMs, 'failover-timeout', 5_000];
        await redis.call('SENTINEL', 'SET', MASTER, ...settings);
      });
    await until(async () => (await one.known()).every((known) => known === '1 2'));
    return one;
  }

  /** Settings of processes that use it. The first sentinel of the list is not there. */
  get settings() {
    const { PASSWORD, SENTINEL_PASSWORD, MASTER } = TestRedisSentinels;
    const addresses = ['127.0.0.1:1', ...this.sentinels.map(({ url }) => new URL(url).host)];
    return {
      REDIS_URL: addresses.map((address) => `redis://:${encodeURIComponent(PASSWORD)}@${address}/1`).join(),
      ...{ REDIS_TOPOLOGY: 'sentinel', REDIS_SENTINEL_MASTER: MASTER, REDIS_SENTINEL_PASSWORD: SENTINEL_PASSWORD },
    };
  }

  /** The server that sentinels regard as the master. */
  async master(): Promise<TestRedis> {
    const ports = await this.ask('GET-MASTER-ADDR-BY-NAME', ([, port]) => port);
    const found = this.servers.find(({ url }) => ports.every((port) => port === new URL(url).port));
    if (found === undefined) throw new Error(`The sentinels do not agree: ${ports.join()}.`);
    return found;
  }

  /** Resolves when sentinels have replaced a master. */
  async replaced(master: TestRedis): Promise<void> {
    await until(() =>
      this.master().then(
        (now) => now !== master,
        () => false,
      ),
    );
  }

  /** Resolves when the server that is not the master replicates it. */
  async replicated(): Promise<void> {
    await until(async () => {
      const master = await this.master();
      return (await master.run((redis) => redis.info('replication'))).includes('state=online');
    });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((one) => one.stop()));
  }

  /** Of each sentinel, how many replicas and other sentinels it knows. */
  private known(): Promise<string[]> {
    return this.ask('MASTER', (fields) => {
      const value = (name: string) => fields[fields.indexOf(name) + 1];
      return `${value('num-slaves')} ${value('num-other-sentinels')}`;
    });
  }

  private ask(command: string, of: (reply: string[]) => string | undefined): Promise<string[]> {
    const call = async (redis: Redis) => (await redis.call('SENTINEL', command, TestRedisSentinels.MASTER)) as string[];
    return Promise.all(this.sentinels.map((sentinel) => sentinel.run(async (redis) => of(await call(redis)) ?? '')));
  }
}

/** A Redis Cluster of three masters, each with a replica. */
export class TestRedisCluster {
  private constructor(private readonly nodes: readonly TestRedis[]) {}

  static async start(failedAfterMs = FAILED_AFTER_MS): Promise<TestRedisCluster> {
    const nodes = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const bus = ['--cluster-port', String(await freePort())];
        return TestRedis.start('--cluster-enabled', 'yes', '--cluster-node-timeout', String(failedAfterMs), ...bus);
      }),
    );
    const cluster = new TestRedisCluster(nodes);
    await cluster.join();
    return cluster;
  }

  /** Of some of its servers: the others are found by them. */
  get servers(): RedisServers {
    return serversAt(
      this.nodes.slice(1, 4).map(({ url }) => url),
      'cluster',
    );
  }

  /** Settings of processes that use it. */
  settings(shards: number) {
    return { REDIS_URL: this.servers.urls.join(','), REDIS_TOPOLOGY: 'cluster', QUEUE_SHARDS: String(shards) };
  }

  /** The server that has the keys of a queue. */
  async masterOf(queueName: string): Promise<TestRedis> {
    const slot = await this.each(async (redis) => redis.cluster('KEYSLOT', queueName)).then(([first]) => first ?? 0);
    for (const node of this.running) {
      const owns = await node.run(async (redis) => {
        const nodes = String(await redis.cluster('NODES'));
        const [, ranges = ''] = /myself,master - \d+ \d+ \d+ connected(.*)/.exec(nodes) ?? [];
        return ranges
          .trim()
          .split(' ')
          .map((range) => range.split('-').map(Number))
          .some(([first = NaN, last = first]: number[]) => slot >= first && slot <= last);
      });
      if (owns) return node;
    }
    throw new Error(`No master has slot ${slot}.`);
  }

  /** Moves the slot of a queue, with its present and future keys, to another master. */
  async moveSlotOf(queueName: string): Promise<void> {
    const from = await this.masterOf(queueName);
    const others = await Promise.all(
      ['{messages-0}', '{messages-1}', '{messages-2}'].map((name) => this.masterOf(name)),
    );
    const to = others.find((node) => node !== from);
    if (to === undefined) throw new Error('There is one master only.');
    const slot = await from.run((redis) => redis.cluster('KEYSLOT', queueName));
    const [fromId, toId] = [
      await from.run((redis) => redis.cluster('MYID')),
      await to.run((redis) => redis.cluster('MYID')),
    ];
    await to.run((redis) => redis.cluster('SETSLOT', slot, 'IMPORTING', fromId));
    await from.run((redis) => redis.cluster('SETSLOT', slot, 'MIGRATING', toId));
    await from.run(async (redis) => {
      const { hostname, port } = new URL(to.url);
      for (let keys = await redis.cluster('GETKEYSINSLOT', slot, 100); keys.length > 0;) {
        await redis.call('MIGRATE', hostname, port, '', 0, 5_000, 'KEYS', ...keys);
        keys = await redis.cluster('GETKEYSINSLOT', slot, 100);
      }
    });
    for (const node of [to, from]) await node.run((redis) => redis.cluster('SETSLOT', slot, 'NODE', toId));
  }

  /** Removes all keys of all servers. */
  async flush(): Promise<void> {
    await this.each(async (redis) => {
      if ((await redis.info('replication')).includes('role:master')) await redis.flushall();
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  private get running(): TestRedis[] {
    return this.nodes.filter(({ isRunning }) => isRunning);
  }

  private each<T>(work: (redis: Redis, index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.running.map((node, index) => node.run((redis) => work(redis, index))));
  }

  private async join(): Promise<void> {
    const addresses = await this.each(async (redis, index) => {
      await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      if (index < 3) {
        const [first, next] = [Math.ceil((index * 16_384) / 3), Math.ceil(((index + 1) * 16_384) / 3)];
        await redis.call('CLUSTER', 'ADDSLOTSRANGE', first, next - 1);
      }
      const [, busPort] = (await redis.config('GET', 'cluster-port')) as string[];
      return { id: await redis.cluster('MYID'), port: redis.options.port ?? 0, busPort: busPort ?? '' };
    });
    await this.each(async (redis, index) => {
      if (index > 0) return;
      for (const { port, busPort } of addresses) await redis.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
    });
    await this.untilAll((info) => info.includes('cluster_known_nodes:6'));
    await this.each(async (redis, index) => {
      if (index < 3) return;
      const masterId = addresses[index - 3]?.id ?? '';
      // A server may not yet know that it is a master.
      const replicates = () =>
        redis.cluster('REPLICATE', masterId).then(
          () => true,
          () => false,
        );
      await until(replicates);
      await until(async () => (await redis.info('replication')).includes('master_link_status:up'));
    });
    await this.untilAll((info) => info.includes('cluster_state:ok'));
  }

  private async untilAll(holds: (info: string) => boolean): Promise<void> {
    await this.each((redis) => until(async () => holds(await redis.cluster('INFO'))));
  }
}
