import { parseDatabaseUrl } from '../database/database-url.js';
import type { Environment, Format } from './environment.js';
import { networkIn } from '../http/access/client-address.js';
import type { OperatorKey } from '../http/access/secret.js';
import { matching, url } from './formats.js';
import { readRedis } from '../redis/settings.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

/** The name of a key without one. */
const UNNAMED_OPERATOR = 'operator';
const OPERATOR_KEYS: Format<OperatorKey[]> = {
  expected:
    'one or more keys `key` or `name:key`, separated by commas, each another one: the key at least 32 visible ASCII ' +
    'characters without commas and colons, the name 1 to 40 of `A-Z a-z 0-9 . _ -`',
  parse: (text) => {
    const keys = text.split(',').map((part) => operatorKey(part.trim()));
    const isValid = keys.every((one) => one !== null) && new Set(keys.map(({ key }) => key)).size === keys.length;
    return isValid ? keys : undefined;
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
const COLLECTOR_URL = url('http://127.0.0.1:4318', /^https?:\/\/./);
const PUBLIC_URL = matching('an origin like https://sluice.example.com', isOrigin);
const NETWORKS = listOf('addresses and networks like 10.0.0.0/8', (text) => networkIn(text) !== null);
const HOST_NAMES = listOf('names like sluice.internal or *.svc.cluster.local', isHostName);
export const ORIGINS = listOf('origins like https://app.example.com', isOrigin);
const FRACTION: Format<number> = {
  expected: 'a number from 0 to 1, like 0.1',
  parse: (number) => (/^\d*\.?\d+$/.test(number) && Number(number) <= 1 ? Number(number) : undefined),
};

/**
 * The settings that all contexts share. Times are in milliseconds, sizes in bytes.
 * @throws UsageError for a value that is missing or not accepted
 */
export function readPlatformSettings(env: Environment) {
  const maxBodyBytes = env.integer('MAX_BODY_BYTES', 1_048_576, 1_024, 64 * 1_048_576);
  return {
    http: {
      port: env.integer('PORT', 3000, 0, 65_535),
      host: env.optional('HOST') ?? '0.0.0.0',
      maxBodyBytes,
      // One caller may have a quarter, which at least one body must fit into.
      maxBufferedBytes: Math.max(1_048_576 * env.integer('MAX_BUFFERED_MB', 64, 8, 65_536), 4 * maxBodyBytes),
      trustProxy: env.read('TRUST_PROXY', [], NETWORKS),
      /** Null if not set: requests are asked for it. */
      publicUrl: env.read('PUBLIC_URL', null, PUBLIC_URL),
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
    operatorKeys: env.read('ADMIN_API_KEY', [], OPERATOR_KEYS),
    tracing: isTracing(env),
    accessLogSample: env.read('ACCESS_LOG_SAMPLE', 0.01, FRACTION),
    logLevel: env.oneOf('LOG_LEVEL', 'info', LOG_LEVELS),
  };
}

export type PlatformSettings = ReturnType<typeof readPlatformSettings>;

/** Null for a text that is neither a key nor a name and a key. */
function operatorKey(text: string): OperatorKey | null {
  const [, name = UNNAMED_OPERATOR, key = ''] = /^(?:([\w.-]{1,40}):)?([!-+\--9;-~]{32,})$/.exec(text) ?? [];
  return key === '' ? null : { name, key };
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

function listOf(items: string, isItem: (text: string) => boolean): Format<string[]> {
  return {
    expected: `"off", or ${items} separated by commas`,
    parse: (text) => {
      const list = text === 'off' ? [] : text.split(',').map((part) => part.trim());
      return list.every(isItem) ? list : undefined;
    },
  };
}

/** A host name, or all names below one. */
function isHostName(text: string): boolean {
  return /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(text);
}

/** An origin in the form in which browsers send it. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
