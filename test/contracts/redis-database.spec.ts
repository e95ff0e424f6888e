import { RedisQueueConnection } from '#delivery/adapters/bullmq/redis/redis-queue-connection.js';
import type { RedisServers } from '#platform/redis/connect-redis.js';
import { until } from '../support/processes.js';
import { asApp, NO_REDIS, serversAt, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';

const TOPOLOGIES = ['standalone', 'sentinel'] as const;

interface Refusal {
  readonly why: string;
  readonly refuse: (redis: TestRedis) => Promise<unknown>;
  readonly repair: (redis: TestRedis) => Promise<unknown>;
}

const restart = async (redis: TestRedis, ...options: string[]) => {
  await redis.kill();
  await redis.restart(...options);
};
const run = (redis: TestRedis, ...commands: (readonly [string, ...string[]])[]) =>
  redis.run(async (client) => {
    for (const [command, ...args] of commands) await client.call(command, ...args);
  });
const DISCONNECT = ['CLIENT', 'KILL', 'USER', 'app'] as const;

const REFUSALS: readonly Refusal[] = [
  {
    why: 'it has fewer databases',
    refuse: (redis) => restart(redis, '--databases', '1'),
    repair: (redis) => restart(redis),
  },
  {
    why: 'the user may not select one',
    refuse: (redis) => run(redis, ['ACL', 'SETUSER', 'app', '-select'], DISCONNECT),
    repair: (redis) => run(redis, ['ACL', 'SETUSER', 'app', '+select']),
  },
  {
    why: 'it no longer knows SELECT',
    refuse: (redis) => restart(redis, '--rename-command', 'SELECT', ''),
    repair: (redis) => restart(redis),
  },
];

describeUnless(NO_REDIS).each(TOPOLOGIES)('A Redis (%s) that refuses the database of its URL', (topology) => {
  let redis: TestRedis;
  let sentinel: TestRedis | undefined;
  let servers: RedisServers;

  beforeAll(async () => {
    redis = await TestRedis.startForApp();
    let { url } = redis;
    if (topology === 'sentinel') {
      sentinel = await TestRedis.start('--sentinel');
      const { hostname, port } = new URL(url);
      await run(sentinel, ['SENTINEL', 'MONITOR', 'mymaster', hostname, port, '1']);
      ({ url } = sentinel);
    }
    servers = serversAt([`${asApp(url)}/5`], topology);
  });
  afterAll(() => Promise.all([redis.stop(), sentinel?.stop()]));

  const open = async () => {
    const ignore = () => undefined;
    const options = { shards: 1, queueName: 'messages', onError: ignore, onEviction: ignore };
    const connection = new RedisQueueConnection({ ...servers, ...options });
    await connection.opened();
    // It has two connections more, of which one blocks.
    const worker = connection.shardOf('').createWorker(() => Promise.resolve(''), { name: 'w', autorun: false });
    worker.on('error', ignore);
    void worker.run();
    const add = () => connection.shardOf('').queue.add('job', {});
    const close = async () => {
      await worker.close(true);
      await connection.close();
    };
    return { connection, add, close };
  };
  /** The databases of the user's connections. */
  const used = () =>
    redis.run(async (client) => {
      const list = String(await client.client('LIST'));
      return list
        .split('\n')
        .flatMap((line) => (line.includes(' user=app ') ? (/ db=(\d+)/.exec(line)?.[1] ?? '') : []));
    });
  /** Resolves when others have connected so many times. */
  const connected = (times: number) =>
    redis.run(async (client) => {
      const count = async () => Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1]);
      const since = await count();
      await until(async () => (await count()) >= since + times, 20_000);
    });
  /** In database 0. */
  const keysOutside = () => redis.run((client) => client.dbsize());

  const isUp = async (connection: RedisQueueConnection) => {
    for (const { server } of connection.shards) await server.check();
    return connection.isUp;
  };

  it.each(REFUSALS)('is down for all connections while $why', async ({ refuse, repair }) => {
    const before = await open();
    await before.add();
    await until(async () => (await used()).length >= 3);
    await refuse(redis);
    // As a process that starts while Redis is away.
    const begun = await open();
    // All six have tried several times.
    await connected(30);
    for (const { connection, add } of [before, begun]) {
      expect(await isUp(connection)).toBe(false);
      await expect(add()).rejects.toThrow();
    }
    expect(await keysOutside()).toBe(0);
    await repair(redis);
    await until(async () => {
      return (await isUp(before.connection)) && (await isUp(begun.connection));
    });
    await begun.add();
    await until(async () => (await used()).length >= 6);
    expect(new Set(await used())).toEqual(new Set(['5']));
    expect(await keysOutside()).toBe(0);
    await Promise.all([before.close(), begun.close()]);
  });
});
