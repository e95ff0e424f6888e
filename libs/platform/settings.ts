import { isIP } from 'node:net';

export type Variables = Readonly<Record<string, string | undefined>>;

/** A setting that can't be used. The message names the variable and says what it takes. */
export class SettingsError extends Error {}

/** A variable that is empty is as good as one that is not set. */
export function given(env: Variables, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

export function integer(env: Variables, name: string, fallback: number, min: number, max: number): number {
  const text = given(env, name);
  if (text === undefined) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) {
    throw new SettingsError(`${name} must be a whole number from ${min} to ${max}; it is "${text}".`);
  }
  return value;
}

function fraction(env: Variables, name: string, fallback: number): number {
  const text = given(env, name);
  if (text === undefined) return fallback;
  const value = /^(\d|\d?\.\d{1,9})$/.test(text) ? Number(text) : NaN;
  if (!(value >= 0 && value <= 1)) throw new SettingsError(`${name} must be a number from 0 to 1; it is "${text}".`);
  return value;
}

export function oneOf<T extends string>(env: Variables, name: string, fallback: T, values: readonly T[]): T {
  const text = given(env, name);
  if (text === undefined) return fallback;
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new SettingsError(`${name} must be one of ${values.join(', ')}; it is "${text}".`);
  return value;
}

// A secret's value must not appear in the sentence: it ends up in logs.
function secret(env: Variables, name: string): string | null {
  const text = given(env, name);
  if (text === undefined) return null;
  if (text.length < 32) throw new SettingsError(`${name} must be a secret of at least 32 characters.`);
  return text;
}

// What is sent as a bearer token can have no blank in it, nor anything that a header can't carry.
function bearerSecret(env: Variables, name: string): string | null {
  const text = secret(env, name);
  if (text !== null && !/^[!-~]+$/.test(text)) throw new SettingsError(`${name} must be visible ASCII without blanks.`);
  return text;
}

function required<T>(value: T | null, name: string, what: string): T {
  if (value === null) throw new SettingsError(`${name} is required: ${what}.`);
  return value;
}

function databaseUrl(env: Variables): string | null {
  const text = given(env, 'DATABASE_URL');
  if (text === undefined) return null;
  // The value may hold a password, so the sentence does not repeat it.
  if (!/^postgres(ql)?:\/\/./.test(text) || !URL.canParse(text)) {
    throw new SettingsError('DATABASE_URL must be a URL like postgres://user:password@host:5432/database.');
  }
  return text;
}

/** Addresses and networks (CIDR), separated by commas. Names are not taken: they would trust more than one thinks. */
function networks(env: Variables, name: string): string[] {
  const text = given(env, name) ?? 'off';
  if (text === 'off') return [];
  const list = text.split(',').map((part) => part.trim());
  for (const network of list) {
    const [address = '', prefix] = network.split('/');
    const bits = isIP(address) === 4 ? 32 : 128;
    if (isIP(address) === 0 || (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))) {
      throw new SettingsError(
        `${name} must be "off", or addresses and networks like 10.0.0.0/8 separated by commas; "${network}" is none.`,
      );
    }
  }
  return list;
}

/** Origins as a browser names them: nothing else would ever be equal to one. */
function origins(env: Variables, name: string): string[] {
  const text = given(env, name) ?? 'off';
  if (text === 'off') return [];
  const list = text.split(',').map((part) => part.trim());
  for (const origin of list) {
    if (!/^https?:[^*]+$/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new SettingsError(
        `${name} must be "off", or origins like https://app.example.com separated by commas; "${origin}" is none.`,
      );
    }
  }
  return list;
}

const SAMPLERS = [
  ...['always_on', 'always_off', 'traceidratio'],
  ...['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
];

/**
 * Whether spans are exported. OpenTelemetry's SDK reads its variables by itself, and takes what it can't use for its
 * default: this says so instead.
 */
function tracing(env: Variables): boolean {
  if (given(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const set = endpoints.filter((name) => given(env, name) !== undefined);
  for (const name of set) {
    const text = given(env, name) ?? '';
    // The value may hold a password, so the sentence does not repeat it.
    if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) {
      throw new SettingsError(`${name} must be a URL like http://127.0.0.1:4318.`);
    }
  }
  if (set.length === 0) return false;
  oneOf(env, 'OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', ['http/json']);
  oneOf(env, 'OTEL_TRACES_SAMPLER', 'parentbased_always_on', SAMPLERS);
  const ratio = given(env, 'OTEL_TRACES_SAMPLER_ARG');
  if (ratio !== undefined && !(/^\d*\.?\d+$/.test(ratio) && Number(ratio) <= 1)) {
    throw new SettingsError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, like 0.1; it is "${ratio}".`);
  }
  return true;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * All settings, from environment variables. Times are milliseconds, sizes bytes.
 * @throws SettingsError with one sentence for people
 */
export function readSettings(env: Variables) {
  return {
    http: {
      port: integer(env, 'PORT', 3000, 0, 65_535),
      host: given(env, 'HOST') ?? '0.0.0.0',
      maxBodyBytes: integer(env, 'MAX_BODY_BYTES', 1_048_576, 1_024, 64 * 1_048_576),
      trustProxy: networks(env, 'TRUST_PROXY'),
      corsOrigins: origins(env, 'CORS_ORIGINS'),
      maxConnections: integer(env, 'MAX_CONNECTIONS', 10_000, 10, 1_000_000),
      requestTimeoutMs: integer(env, 'REQUEST_TIMEOUT_MS', 30_000, 100, 600_000),
      maxWaitMs: integer(env, 'MAX_WAIT_MS', 500, 10, 600_000),
    },
    management: {
      port: integer(env, 'MANAGEMENT_PORT', 9464, 0, 65_535),
      host: given(env, 'MANAGEMENT_HOST') ?? '127.0.0.1',
    },
    shutdownGraceMs: integer(env, 'SHUTDOWN_GRACE_MS', 10_000, 0, 600_000),
    database: {
      url: required(
        databaseUrl(env),
        'DATABASE_URL',
        'the URL of a PostgreSQL 14 or newer; `npm start` brings a database of its own',
      ),
      poolSize: integer(env, 'DATABASE_POOL_SIZE', 10, 2, 1_000),
    },
    apiKeyPepper: required(
      secret(env, 'API_KEY_PEPPER'),
      'API_KEY_PEPPER',
      'a secret of at least 32 characters under which API keys are hashed, the same for every process',
    ),
    adminApiKey: bearerSecret(env, 'ADMIN_API_KEY'),
    signup: {
      open: oneOf(env, 'SIGNUP', 'open', ['open', 'closed']) === 'open',
      perHour: integer(env, 'SIGNUPS_PER_HOUR', 20, 0, 1_000_000),
    },
    maxStoredBytesPerAccount: 1_048_576 * integer(env, 'MAX_STORED_MB_PER_ACCOUNT', 10_240, 0, 1_000_000_000),
    anonymousPerMinute: integer(env, 'ANONYMOUS_PER_MINUTE', 300, 1, 1_000_000),
    bans: {
      graceMs: 1_000 * integer(env, 'BAN_GRACE_SECONDS', 2, 0, 3_600),
      afterRefusals: integer(env, 'BAN_AFTER_REFUSALS', 30, 1, 1_000_000),
      banMs: 1_000 * integer(env, 'BAN_SECONDS', 60, 1, 86_400),
      maxBanMs: 1_000 * integer(env, 'BAN_MAX_SECONDS', 3_600, 1, 604_800),
    },
    queueName: queueName(env),
    worker: {
      concurrency: integer(env, 'WORKER_CONCURRENCY', 50, 1, 1_000),
      rate: integer(env, 'WORKER_RATE', 0, 0, 1_000_000),
      lockMs: integer(env, 'WORKER_LOCK_MS', 5_000, 1_000, 600_000),
      maxAttempts: integer(env, 'MAX_ATTEMPTS', 5, 1, 100),
      backoffMs: integer(env, 'BACKOFF_MS', 1_000, 1, 86_400_000),
      maxBackoffMs: integer(env, 'MAX_BACKOFF_MS', 3_600_000, 1, 86_400_000),
      attemptTimeoutMs: integer(env, 'ATTEMPT_TIMEOUT_MS', 30_000, 10, 3_600_000),
    },
    reconcileIntervalMs: integer(env, 'RECONCILE_INTERVAL_MS', 30_000, 100, 86_400_000),
    retentionDays: integer(env, 'RETENTION_DAYS', 30, 1, 3_650),
    tracing: tracing(env),
    accessLogSample: fraction(env, 'ACCESS_LOG_SAMPLE', 0.01),
    logLevel: oneOf(env, 'LOG_LEVEL', 'info', LOG_LEVELS),
  };
}

export type Settings = ReturnType<typeof readSettings>;

function queueName(env: Variables): string {
  const text = given(env, 'QUEUE_NAME') ?? 'messages';
  if (!/^[A-Za-z0-9_.-]{1,40}$/.test(text)) {
    throw new SettingsError(`QUEUE_NAME must be 1 to 40 of A-Z, a-z, 0-9, "_", "." and "-"; it is "${text}".`);
  }
  return text;
}
