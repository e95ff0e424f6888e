import { isIP } from 'node:net';
import { parseDatabaseUrl } from '../database/database-url.js';
import { Environment, type Format } from './environment.js';
import { parseRedisUrl, REDIS_URL_FORM } from '../redis/redis-url.js';
import { UsageError } from './usage-error.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

const QUEUE_NAME = matching('1 to 40 of A-Z, a-z, 0-9, "_", "." and "-"', (name) => /^[\w.-]{1,40}$/.test(name));
const SECRET = matching('a secret of at least 32 characters', ({ length }) => length >= 32, true);
const BEARER_TOKEN = matching(
  'a secret of at least 32 characters, all of them visible ASCII',
  (token) => /^[!-~]{32,}$/.test(token),
  true,
);
const SECRETS_KEYS: Format<Buffer[]> = {
  expected: 'keys of 32 bytes in Base64 or hexadecimal, separated by commas, as `openssl rand -base64 32` prints one',
  parse: (text) => {
    const keys = text.split(',').map((part) => keyIn(part.trim()));
    return keys.every((key) => key.length === 32) ? keys : undefined;
  },
  secret: true,
};
const DATABASE_URL: Format<string> = {
  expected: 'a URL like postgres://user:password@host:5432/database',
  parse: (text) => {
    parseDatabaseUrl(text);
    return text;
  },
  secret: true,
};
const REDIS_URL: Format<string[]> = {
  expected: REDIS_URL_FORM,
  parse: (text) => {
    const urls = text.split(',');
    urls.forEach(parseRedisUrl);
    return urls;
  },
  secret: true,
};
const COLLECTOR_URL = url('http://127.0.0.1:4318', /^https?:\/\/./);
const NETWORKS = listOf('addresses and networks like 10.0.0.0/8', isNetwork);
const HOST_NAMES = listOf('names like sluice.internal or *.svc.cluster.local', isHostName);
const ORIGINS = listOf('origins like https://app.example.com', isOrigin);
const FRACTION: Format<number> = {
  expected: 'a number from 0 to 1, like 0.1',
  parse: (number) => (/^\d*\.?\d+$/.test(number) && Number(number) <= 1 ? Number(number) : undefined),
};

/** The waits before the second and each further attempt: three days and a few hours in all. */
const DEFAULT_RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
const RETRY_SECONDS: Format<number[]> = {
  expected: '1 to 30 whole numbers from 0 to 604,800, separated by commas',
  parse: (text) => {
    const waits = text.split(',').map((part) => (/^ *\d{1,6} *$/.test(part) ? Number(part) : Infinity));
    return waits.length <= 30 && waits.every((seconds) => seconds <= 604_800) ? waits : undefined;
  },
};

/**
 * All settings, from environment variables. Times are in milliseconds, sizes in bytes.
 * @throws UsageError for a value that is missing or not accepted
 */
export function readSettings(variables: Readonly<Record<string, string | undefined>>) {
  const env = new Environment(variables);
  const maxBodyBytes = env.integer('MAX_BODY_BYTES', 1_048_576, 1_024, 64 * 1_048_576);
  return {
    http: {
      port: env.integer('PORT', 3000, 0, 65_535),
      host: env.optional('HOST') ?? '0.0.0.0',
      maxBodyBytes,
      // One caller may have a quarter, which at least one body must fit into.
      maxBufferedBytes: Math.max(1_048_576 * env.integer('MAX_BUFFERED_MB', 64, 8, 65_536), 4 * maxBodyBytes),
      trustProxy: env.read('TRUST_PROXY', [], NETWORKS),
      corsOrigins: env.read('CORS_ORIGINS', [], ORIGINS),
      maxConnections: env.integer('MAX_CONNECTIONS', 10_000, 10, 1_000_000),
      // The usual proxies and load balancers keep a connection for 60 s: they should close it before we do.
      keepAliveTimeoutMs: env.integer('KEEP_ALIVE_TIMEOUT_MS', 72_000, 1_000, 3_600_000),
      requestTimeoutMs: env.integer('REQUEST_TIMEOUT_MS', 30_000, 100, 600_000),
      maxWaitMs: env.integer('MAX_WAIT_MS', 500, 10, 600_000),
    },
    management: {
      port: env.integer('MANAGEMENT_PORT', 9464, 0, 65_535),
      host: env.optional('MANAGEMENT_HOST') ?? '127.0.0.1',
      allowedHosts: env.read('MANAGEMENT_ALLOWED_HOSTS', [], HOST_NAMES),
    },
    shutdownGraceMs: env.integer('SHUTDOWN_GRACE_MS', 10_000, 0, 600_000),
    database: {
      url: env.required(
        'DATABASE_URL',
        'the URL of a PostgreSQL 14 or newer; `npm start` brings a database of its own',
        DATABASE_URL,
      ),
      poolSize: env.integer('DATABASE_POOL_SIZE', 10, 2, 1_000),
    },
    /** Null when PostgreSQL carries the queue as well. */
    redis: readRedis(env),
    reads: {
      perAccount: env.integer('READS_PER_ACCOUNT', 2, 1, 1_000),
      timeoutMs: env.integer('READ_TIMEOUT_MS', 2_000, 10, 600_000),
    },
    apiKeyPepper: env.required(
      'API_KEY_PEPPER',
      'a secret of at least 32 characters under which API keys are hashed, the same for every process',
      SECRET,
    ),
    apiKeyPepperPrevious: env.read('API_KEY_PEPPER_PREVIOUS', null, SECRET),
    /** The first encrypts. Without one, there are no webhooks. */
    secretsKeys: env.read('SECRETS_KEY', [], SECRETS_KEYS),
    adminApiKey: env.read('ADMIN_API_KEY', null, BEARER_TOKEN),
    signup: {
      open: env.oneOf('SIGNUP', 'closed', ['open', 'closed']) === 'open',
      perHour: env.integer('SIGNUPS_PER_HOUR', 20, 0, 1_000_000),
    },
    portal: env.oneOf('PORTAL', 'on', ['on', 'off']) === 'on',
    space: {
      maxDatabaseMb: env.integer('MAX_DATABASE_MB', 0, 0, 1_000_000_000),
      folder: env.optional('DATABASE_DIR') ?? null,
      minFreeMb: env.integer('MIN_FREE_DISK_MB', 512, 0, 1_000_000_000),
    },
    maxStoredMb: {
      free: env.integer('MAX_STORED_MB_FREE', 1_024, 0, 1_000_000_000),
      pro: env.integer('MAX_STORED_MB_PRO', 5_120, 0, 1_000_000_000),
      perAccount: env.integer('MAX_STORED_MB_PER_ACCOUNT', 10_240, 0, 1_000_000_000),
    },
    anonymousPerMinute: env.integer('ANONYMOUS_PER_MINUTE', 300, 1, 1_000_000),
    bans: {
      graceMs: 1_000 * env.integer('BAN_GRACE_SECONDS', 2, 0, 3_600),
      afterRefusals: env.integer('BAN_AFTER_REFUSALS', 30, 1, 1_000_000),
      banMs: 1_000 * env.integer('BAN_SECONDS', 60, 1, 86_400),
      maxBanMs: 1_000 * env.integer('BAN_MAX_SECONDS', 3_600, 1, 604_800),
    },
    queueName: env.read('QUEUE_NAME', 'messages', QUEUE_NAME),
    worker: {
      concurrency: env.integer('WORKER_CONCURRENCY', 50, 1, 1_000),
      rate: env.integer('WORKER_RATE', 0, 0, 1_000_000),
      lockMs: env.integer('WORKER_LOCK_MS', 5_000, 1_000, 600_000),
      maxAttempts: env.integer('MAX_ATTEMPTS', 5, 1, 100),
      backoffMs: env.integer('BACKOFF_MS', 1_000, 1, 86_400_000),
      maxBackoffMs: env.integer('MAX_BACKOFF_MS', 3_600_000, 1, 86_400_000),
      attemptTimeoutMs: env.integer('ATTEMPT_TIMEOUT_MS', 30_000, 10, 3_600_000),
    },
    webhooks: {
      timeoutMs: env.integer('WEBHOOK_TIMEOUT_MS', 15_000, 100, 60_000),
      retrySeconds: env.read('WEBHOOK_RETRY_SECONDS', DEFAULT_RETRY_SECONDS, RETRY_SECONDS),
      disableAfterMs: 3_600_000 * env.integer('WEBHOOK_DISABLE_AFTER_HOURS', 120, 1, 8_760),
      concurrency: env.integer('WEBHOOK_CONCURRENCY', 200, 10, 5_000),
      allowPrivate: env.oneOf('WEBHOOK_ALLOW_PRIVATE', 'false', ['true', 'false']) === 'true',
    },
    reconcileIntervalMs: env.integer('RECONCILE_INTERVAL_MS', 30_000, 100, 86_400_000),
    retentionDays: env.integer('RETENTION_DAYS', 30, 1, 3_650),
    tracing: isTracing(env),
    accessLogSample: env.read('ACCESS_LOG_SAMPLE', 0.01, FRACTION),
    logLevel: env.oneOf('LOG_LEVEL', 'info', LOG_LEVELS),
  };
}

export type Settings = ReturnType<typeof readSettings>;

function readRedis(env: Environment) {
  const urls = env.read('REDIS_URL', null, REDIS_URL);
  const topology = env.oneOf('REDIS_TOPOLOGY', 'standalone', ['standalone', 'sentinel', 'cluster']);
  const sentinel = {
    master: env.optional('REDIS_SENTINEL_MASTER') ?? 'mymaster',
    password: env.optional('REDIS_SENTINEL_PASSWORD') ?? null,
  };
  const shards = env.integer('QUEUE_SHARDS', 1, 1, 64);
  if (urls === null) return null;
  if (topology === 'standalone' && urls.length > 1)
    throw new UsageError('Several URLs in REDIS_URL need REDIS_TOPOLOGY=sentinel or REDIS_TOPOLOGY=cluster.');
  return { urls, topology, sentinel, shards };
}

/** Whether spans are exported. OpenTelemetry's SDK reads these variables itself, but falls back silently to defaults. */
function isTracing(env: Environment): boolean {
  if (env.optional('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (endpoints.map((name) => env.read(name, null, COLLECTOR_URL)).every((set) => set === null)) return false;
  env.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', ['http/json']);
  env.oneOf('OTEL_TRACES_SAMPLER', 'parentbased_always_on', SAMPLERS);
  env.read('OTEL_TRACES_SAMPLER_ARG', 1, FRACTION);
  return true;
}

function keyIn(text: string): Buffer {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
}

function matching(expected: string, isAccepted: (text: string) => boolean, secret = false): Format<string> {
  return { expected, parse: (text) => (isAccepted(text) ? text : undefined), secret };
}

/** A URL may contain a password. */
function url(example: string, form: RegExp): Format<string> {
  return matching(`a URL like ${example}`, (text) => form.test(text) && URL.canParse(text), true);
}

function listOf(items: string, isItem: (text: string) => boolean): Format<string[]> {
  return {
    expected: `"off", or ${items} separated by commas`,
    parse: (text) => {
      const list = text === 'off' ? [] : text.split(',').map((part) => part.trim());
      return list.every(isItem) ? list : undefined;
    },
  };
}

/** An address or a network in CIDR notation; not a name, which could resolve to any address, and not all addresses. */
function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = isIP(address) === 4 ? 32 : 128;
  return isIP(address) !== 0 && Number(prefix) >= 1 && Number(prefix) <= bits;
}

/** A host name, or all names below one. */
function isHostName(text: string): boolean {
  return /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(text);
}

/** An origin in the form in which browsers send it. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
