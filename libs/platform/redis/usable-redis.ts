import { Redis, type RedisOptions } from 'ioredis';
import { STARTING_TIMEOUT_MS } from '../database/connection.js';
import { UsageError } from '../process/usage-error.js';
import { TLS_ERROR, tlsFailure } from '../process/tls-files.js';
import { CONNECT_TIMEOUT_MS, USER_NOT_SUPPORTED, type RedisClient, type RedisServers } from './connect-redis.js';
import { isRedisUnavailable, isTemporaryResponse, withoutEnd } from './errors.js';
import { optionsOf, parseRedisUrl } from './redis-url.js';

/** What BullMQ recommends. Valkey reports the version of Redis that it is compatible with. */
const MIN_VERSION = [6, 2] as const;

/** What is asked, in messages. */
const REDIS = { name: 'The Redis server at REDIS_URL', secret: 'its user and password' };
const SENTINEL = { name: 'The sentinel at REDIS_URL', secret: 'REDIS_SENTINEL_PASSWORD' };

type Topology = RedisServers['topology'];

const UNKNOWN_SCRIPT = '0'.repeat(40);

/**
 * A command of each category of Redis from which BullMQ and Sluice need commands, of each type to read and to write. None of
 * them finds its key or changes anything. Rights are checked first: in a cluster also where another server has the key.
 */
const commandsOn = (key: string): [command: string, ...args: (string | number)[]][] => [
  ['exists', key],
  ['del', key],
  ['get', key],
  ['set', key, '', 'xx'],
  ['hget', key, ''],
  ['hdel', key, ''],
  ['lrange', key, 0, 0],
  ['ltrim', key, 0, 0],
  ['smembers', key],
  ['srem', key, ''],
  ['zrange', key, 0, 0],
  ['zrem', key, ''],
  ['xrange', key, '-', '+'],
  ['xtrim', key, 'maxlen', 0],
  ['eval', 'return 1', 1, key],
  ['evalsha', UNKNOWN_SCRIPT, 1, key],
];

/** A process starts nevertheless: it stores messages without Redis, and uses it as soon as it is there. */
export class RedisUnreachable extends UsageError {}

/**
 * Checks that Redis accepts the credentials of its URL, its version and its topology, and that the user has the rights.
 * @param prefixes of the keys that are needed
 * @throws UsageError when it does not, RedisUnreachable when there is no response
 */
export async function requireUsableRedis(servers: RedisServers, prefixes: readonly string[] = []): Promise<void> {
  const { urls, topology } = servers;
  const ask = async (redis: Redis) => {
    await requireUsable(redis, topology);
    if (topology === 'cluster') await Promise.all([redis.cluster('SLOTS'), redis.cluster('INFO')]);
    for (const prefix of prefixes) await requireRights(redis, prefix);
  };
  let unreachable: unknown;
  for (const url of urls) {
    try {
      const options = topology === 'sentinel' ? await findMaster(url, servers) : optionsOf(parseRedisUrl(url));
      await inspect(options, ask);
      return;
    } catch (error) {
      if (!(error instanceof RedisUnreachable)) throw error;
      unreachable = error;
    }
  }
  throw unreachable;
}

async function findMaster(url: string, { sentinel: { master, password } }: RedisServers): Promise<RedisOptions> {
  const address = parseRedisUrl(url);
  const { username: _user, password: _password, ...sentinel } = optionsOf(address);
  const asked = await inspect(
    { ...sentinel, db: 0, port: address.port ?? 26_379, ...(password !== null && { password }) },
    async (redis) => {
      requireTopology(await redis.info(), 'sentinel');
      return redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master);
    },
    SENTINEL,
  );
  if (asked === null)
    throw new UsageError(
      `The sentinel at REDIS_URL does not know a master named "${master}": set REDIS_SENTINEL_MASTER.`,
    );
  const [host = '', port = ''] = asked as string[];
  return { ...optionsOf(address), host, port: Number(port) };
}

async function inspect<T>(options: RedisOptions, ask: (redis: Redis) => Promise<T>, asked = REDIS): Promise<T> {
  const redis = new Redis({
    ...options,
    ...{ lazyConnect: true, connectTimeout: CONNECT_TIMEOUT_MS, commandTimeout: STARTING_TIMEOUT_MS },
    ...{ retryStrategy: () => null, maxRetriesPerRequest: 0, enableReadyCheck: false },
  });
  // The first error is the cause of the errors after it.
  const failed = new Promise<never>((_resolve, reject) => redis.on('error', reject));
  try {
    return await Promise.race([failed, redis.connect().then(() => ask(redis))]);
  } catch (error) {
    throw explained(error, asked, options.tls !== undefined);
  } finally {
    failed.catch(() => undefined);
    redis.disconnect();
  }
}

async function requireUsable(redis: Redis, topology: Topology): Promise<void> {
  const info = await redis.info();
  // A master that sentinels know is one server.
  requireTopology(info, topology === 'cluster' ? 'cluster' : 'standalone');
  requireVersion(/^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown');
  // Servers of a cluster tell where their masters are.
  if (topology === 'cluster' || !/^role:slave/m.test(info)) return;
  const value = (field: string) => new RegExp(`^${field}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
  throw new UsageError(
    `The Redis server at REDIS_URL is a replica of ${value('master_host')}:${value('master_port')}, which accepts no writes: use the URL of its master.`,
  );
}

/** Resolves if Redis accepts the commands that are needed; rejects with its response if not. Nothing waits for it. */
export async function requireAccepted(redis: RedisClient, prefix: string): Promise<void> {
  const replies = (await redis.pipeline(commandsOn(keyOf(prefix))).exec()) ?? [];
  const refused = errorsOf(replies)[0];
  if (refused) throw refused;
}

function errorsOf(replies: readonly [error: Error | null, reply: unknown][]): Error[] {
  return replies.flatMap(([error]) => (error === null || error.message.startsWith('NOSCRIPT ') ? [] : [error]));
}

function keyOf(prefix: string): string {
  return `${prefix}sluice-rights`;
}

async function requireRights(redis: Redis, prefix: string): Promise<void> {
  const key = keyOf(prefix);
  const replies = (await redis.pipeline([...commandsOn(key), ['bzpopmin', key, 0.001]]).exec()) ?? [];
  const errors = errorsOf(replies);
  const denied = errors.find(({ message }) => message.startsWith('NOPERM'));
  if (denied !== undefined)
    throw new UsageError(
      `The user in REDIS_URL lacks a permission for the keys ${prefix}*: ${withoutEnd(denied.message)}.`,
    );
  // Such as a command that was renamed. A Redis that is full, or has moved the key, does not keep a process from starting.
  const refused = errors.find((error) => !isRedisUnavailable(error));
  if (refused !== undefined) throw refused;
}

function requireTopology(info: string, expected: Topology): void {
  const is = topologyOf(info);
  if (is === expected) return;
  const what = { standalone: 'a single server', sentinel: 'a sentinel', cluster: 'a cluster' }[is];
  throw new UsageError(`The Redis server at REDIS_URL is ${what}: set REDIS_TOPOLOGY to ${is}, or change the URL.`);
}

/** Valkey has a name of its own for `redis_mode`. */
function topologyOf(info: string): Topology {
  if (/^cluster_enabled:1/m.test(info)) return 'cluster';
  return /^\w+_mode:sentinel/m.test(info) ? 'sentinel' : 'standalone';
}

function requireVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1])) return;
  throw new UsageError(
    `The Redis server at REDIS_URL has version ${version}: BullMQ needs ${MIN_VERSION.join('.')} or newer.`,
  );
}

/** Without the command that failed, which may contain the password. */
function explained(error: unknown, { name, secret }: typeof REDIS, isEncrypted: boolean): unknown {
  if (error instanceof UsageError) return error;
  const { message: text, code = '' } = error as NodeJS.ErrnoException;
  const message = withoutEnd(text);
  if (text === USER_NOT_SUPPORTED) {
    return new UsageError(`${name} is older than Redis 6, which BullMQ needs: it does not know users.`);
  }
  if (/NOAUTH|WRONGPASS|invalid password|invalid username|Client sent AUTH/i.test(message)) {
    return new UsageError(`${name} does not accept ${secret}, or requires a password.`);
  }
  if (message.includes('NOPERM')) {
    return new UsageError(`The user in REDIS_URL lacks a permission: ${message}.`);
  }
  if (TLS_ERROR.test(code)) {
    return new UsageError(`${name} cannot be used: TLS failed: ${tlsFailure(error)}`);
  }
  // How TLS begins to say that it does not understand.
  if (message.includes(String.raw`got "\u0015"`)) return new UsageError(`${name} expects TLS: use rediss://.`);
  if (message.startsWith('Protocol error'))
    return new UsageError(`${name} does not respond as Redis does: ${message}.`);
  if (!isRedisUnavailable(error)) return new UsageError(`${name} cannot be used: ${message}.`);
  if (isTemporaryResponse(error)) return new RedisUnreachable(`${name} is not ready: ${message}.`);
  if (isEncrypted && code === 'ETIMEDOUT') {
    return new RedisUnreachable(`${name} does not respond to TLS: use redis:// if it does not expect it.`);
  }
  if (code === 'ECONNRESET' || message === 'Connection is closed') {
    const scheme = isEncrypted ? 'redis:// if it does not expect TLS' : 'rediss:// if it expects TLS';
    return new RedisUnreachable(`${name} has closed the connection without a response: use ${scheme}.`);
  }
  return new RedisUnreachable(`${name} cannot be reached: ${code || message}.`);
}
