import { setTimeout as sleep } from 'node:timers/promises';
import { RedisQueueConnection } from '#delivery/adapters/bullmq/redis/redis-queue-connection.js';
import { requireUsableRedis } from '#platform/redis/usable-redis.js';
import { Link } from '../support/link.js';
import { until } from '../support/processes.js';
import { asApp, LEAST_RIGHTS, NO_REDIS, serversAt, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';

const acl = (...rules: string[]) => ['ACL', 'SETUSER', 'app', ...rules];
const config = (...setting: string[]) => ['CONFIG', 'SET', ...setting];

describeUnless(NO_REDIS)('While its connections to Redis stay open, the queue', () => {
  const link = new Link();
  let redis: TestRedis;
  let other: TestRedis;
  let connection: RedisQueueConnection;

  beforeAll(async () => {
    [redis, other] = await Promise.all([TestRedis.startForApp(), TestRedis.startForApp()]);
    const url = await link.open(redis.url);
    const ignore = () => undefined;
    connection = new RedisQueueConnection({
      ...serversAt([asApp(url)], 'standalone'),
      ...{ shards: 1, queueName: 'messages', onError: ignore, onEviction: ignore },
    });
    await connection.opened();
  });
  afterAll(async () => {
    await connection.close();
    await link.cut();
    await Promise.all([redis, other].map((one) => one.stop()));
  });

  const add = () => connection.shardOf('').queue.add('job', {});
  /** At once, and not within a second. */
  const isUp = async () => {
    await Promise.all(connection.shards.map(({ server }) => server.check()));
    return connection.isUp;
  };
  const isAdded = () =>
    add().then(
      () => true,
      () => false,
    );
  const call = (one: TestRedis, [command = '', ...args]: readonly string[]) =>
    one.run((client) => client.call(command, ...args));
  const connections = async () => {
    const stats = await redis.run((client) => client.info('stats'));
    return Number(/total_connections_received:(\d+)/.exec(stats)?.[1]);
  };

  it.each<[what: string, harm: readonly string[], repair: readonly string[]]>([
    ['the user may not write', acl('-@write'), acl(...LEAST_RIGHTS)],
    ['the user may not change hashes', acl('-@hash'), acl(...LEAST_RIGHTS)],
    ['the user may not run scripts', acl('-@scripting'), acl(...LEAST_RIGHTS)],
    ['the user has other keys', acl('resetkeys', '~other*'), acl(...LEAST_RIGHTS)],
    ['Redis has too few replicas', config('min-replicas-to-write', '1'), config('min-replicas-to-write', '0')],
    ['Redis has no memory left', config('maxmemory', '1'), config('maxmemory', '0')],
    ['Redis is a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ])('is down as long as %s', async (_what, harm, repair) => {
    await until(isUp);
    await call(redis, harm);
    const error: unknown = await add().catch((reason: unknown) => connection.asUnavailable(reason));
    const message: unknown = expect.stringMatching(/^Redis (refuses commands|has no memory left)\. Retry later\.$/);
    expect(error).toMatchObject({ code: 'unavailable', message });
    await until(async () => !(await isUp()));
    await call(redis, repair);
    await until(isUp);
    await until(isAdded);
  });

  it('connects again once a second at most to a Redis that remains a replica', async () => {
    const [before, since] = [await connections(), performance.now()];
    await call(redis, ['REPLICAOF', '127.0.0.1', '1']);
    for (let n = 0; n < 200; n++) await Promise.all([sleep(10), add().catch(() => undefined)]);
    const opened = (await connections()) - before;
    const seconds = (performance.now() - since) / 1_000;
    // With the two of this test.
    expect(opened).toBeGreaterThan(2);
    expect(opened).toBeLessThanOrEqual(seconds + 4);
    await call(redis, ['REPLICAOF', 'NO', 'ONE']);
    await until(isUp);
  });

  it('moves from a master that becomes a replica to that to which the name leads, also with its workers', async () => {
    const done: unknown[] = [];
    const worker = connection.shards[0]?.createWorker((job) => Promise.resolve(done.push(job.name)), {
      ...{ name: 'worker', runRetryDelay: 1_000 },
    });
    worker?.on('error', () => undefined);
    await add();
    await until(() => done.length > 0);
    link.lead(other.url);
    const { hostname, port } = new URL(other.url);
    await call(redis, ['REPLICAOF', hostname, port]);
    done.length = 0;
    await until(isAdded);
    await until(async () => done.length > 0 && (await isUp()));
    // The worker's other connection, too: BullMQ cannot close one that is being replaced.
    await until(async () => (await other.run((client) => client.info('clients'))).includes('blocked_clients:1'));
    await worker?.close();
  });
});

describeUnless(NO_REDIS)('No process starts with a Redis that', () => {
  const check = (redis: TestRedis) => requireUsableRedis(redis.servers, ['bull:messages:']);

  it.each(['EVAL', 'EVALSHA', 'BZPOPMIN', 'XTRIM', 'SET'])('does not know %s', async (name) => {
    const redis = await TestRedis.start('--rename-command', name, '');
    const why = new RegExp(
      `^The Redis server at REDIS_URL cannot be used: ERR unknown command .${name}.: it was renamed or disabled\\.$`,
      'i',
    );
    await expect(check(redis)).rejects.toThrow(why);
    await redis.stop();
  });

  it('does not let the user run EVALSHA', async () => {
    const redis = await TestRedis.start();
    await redis.run((client) => client.acl('SETUSER', 'default', '-evalsha'));
    await expect(check(redis)).rejects.toThrow('The user in REDIS_URL lacks a permission');
    await redis.stop();
  });

  it('is wrong, but with one that is full or lacks replicas', async () => {
    const redis = await TestRedis.start('--maxmemory', '1', '--min-replicas-to-write', '1');
    await check(redis);
    await redis.stop();
  });
});
