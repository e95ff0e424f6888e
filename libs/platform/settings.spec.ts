import { readSettings, SettingsError } from './settings.js';

const required = {
  DATABASE_URL: 'postgres://sluice:hunter2@localhost:5432/sluice',
  API_KEY_PEPPER: 'p'.repeat(32),
};

function fault(env: Record<string, string | undefined>): string {
  try {
    readSettings({ ...required, ...env });
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  throw new Error('The settings were taken.');
}

type Settings = ReturnType<typeof readSettings>;

/** Of each number: its variable, where it is found, its default, and the bounds of what it takes. */
const numbers: [string, (settings: Settings) => number, number, number, number][] = [
  ['PORT', ({ http }) => http.port, 3_000, 0, 65_535],
  ['MANAGEMENT_PORT', ({ management }) => management.port, 9_464, 0, 65_535],
  ['MAX_BODY_BYTES', ({ http }) => http.maxBodyBytes, 1_048_576, 1_024, 67_108_864],
  ['REQUEST_TIMEOUT_MS', ({ http }) => http.requestTimeoutMs, 30_000, 100, 600_000],
  ['MAX_CONNECTIONS', ({ http }) => http.maxConnections, 10_000, 10, 1_000_000],
  ['SHUTDOWN_GRACE_MS', ({ shutdownGraceMs }) => shutdownGraceMs, 10_000, 0, 600_000],
  ['DATABASE_POOL_SIZE', ({ database }) => database.poolSize, 10, 2, 1_000],
  ['WORKER_CONCURRENCY', ({ worker }) => worker.concurrency, 50, 1, 1_000],
  ['WORKER_RATE', ({ worker }) => worker.rate, 0, 0, 1_000_000],
  ['WORKER_LOCK_MS', ({ worker }) => worker.lockMs, 5_000, 1_000, 600_000],
  ['MAX_ATTEMPTS', ({ worker }) => worker.maxAttempts, 5, 1, 100],
  ['BACKOFF_MS', ({ worker }) => worker.backoffMs, 1_000, 1, 86_400_000],
  ['MAX_BACKOFF_MS', ({ worker }) => worker.maxBackoffMs, 3_600_000, 1, 86_400_000],
  ['ATTEMPT_TIMEOUT_MS', ({ worker }) => worker.attemptTimeoutMs, 30_000, 10, 3_600_000],
  ['SIGNUPS_PER_HOUR', ({ signup }) => signup.perHour, 20, 0, 1_000_000],
  ['ANONYMOUS_PER_MINUTE', ({ anonymousPerMinute }) => anonymousPerMinute, 300, 1, 1_000_000],
  ['BAN_GRACE_SECONDS', ({ bans }) => bans.graceMs / 1_000, 2, 0, 3_600],
  ['BAN_AFTER_REFUSALS', ({ bans }) => bans.afterRefusals, 30, 1, 1_000_000],
  ['BAN_SECONDS', ({ bans }) => bans.banMs / 1_000, 60, 1, 86_400],
  ['BAN_MAX_SECONDS', ({ bans }) => bans.maxBanMs / 1_000, 3_600, 1, 604_800],
  ['RETENTION_DAYS', ({ retentionDays }) => retentionDays, 30, 1, 3_650],
  ['RECONCILE_INTERVAL_MS', ({ reconcileIntervalMs }) => reconcileIntervalMs, 30_000, 100, 86_400_000],
];

/** The same of each text, with a value that it takes and one that it doesn't. */
const texts: [string, (settings: Settings) => string, string, string, string][] = [
  ['SIGNUP', ({ signup }) => (signup.open ? 'open' : 'closed'), 'open', 'closed', 'Open'],
  ['LOG_LEVEL', ({ logLevel }) => logLevel, 'info', 'trace', 'verbose'],
  ['QUEUE_NAME', ({ queueName }) => queueName, 'messages', 'a.b_c-D9', 'two words'],
];

describe('readSettings', () => {
  it.each(numbers)('%s has its default, also when it is empty', (name, read, fallback) => {
    expect(read(readSettings(required))).toBe(fallback);
    expect(read(readSettings({ ...required, [name]: '' }))).toBe(fallback);
  });

  it.each(numbers)('%s takes whole numbers within its bounds', (name, read, _, min, max) => {
    for (const value of [min, max]) expect(read(readSettings({ ...required, [name]: String(value) }))).toBe(value);
  });

  it.each(numbers)('%s takes nothing else, and says so by name', (name, _read, _, min, max) => {
    for (const bad of [min - 1, max + 1, 'many', '1.5', '1e3', ' 7', '0x10', '9'.repeat(400)].map(String)) {
      expect(fault({ [name]: bad })).toBe(`${name} must be a whole number from ${min} to ${max}; it is "${bad}".`);
    }
  });

  it.each(texts)('%s has its default, takes what it may and names itself when it refuses', (name, read, ...values) => {
    const [fallback, good, bad] = values;
    for (const nothing of [undefined, '']) {
      expect(read(readSettings({ ...required, [name]: nothing }))).toBe(fallback);
    }
    expect(read(readSettings({ ...required, [name]: good }))).toBe(good);
    expect(fault({ [name]: bad })).toMatch(new RegExp(`^${name} must be .*"${bad}"\\.$`));
  });

  it('logs of every hundredth request unless ACCESS_LOG_SAMPLE says how many', () => {
    const sample = (text?: string) => readSettings({ ...required, ACCESS_LOG_SAMPLE: text }).accessLogSample;
    for (const nothing of [undefined, '']) expect(sample(nothing)).toBe(0.01);
    for (const good of ['0', '1', '.5', '0.001', '1.0']) expect(sample(good)).toBe(Number(good));
    for (const bad of ['1.1', '2', '-1', '1e-3', '1%', '0,5', ' 1', '.', 'all']) {
      expect(fault({ ACCESS_LOG_SAMPLE: bad })).toBe(`ACCESS_LOG_SAMPLE must be a number from 0 to 1; it is "${bad}".`);
    }
  });

  it('listens everywhere unless HOST says where', () => {
    expect(readSettings(required).http.host).toBe('0.0.0.0');
    expect(readSettings({ ...required, HOST: '127.0.0.1' }).http.host).toBe('127.0.0.1');
  });

  it('shows its health and metrics to this machine only, unless MANAGEMENT_HOST says where', () => {
    expect(readSettings(required).management.host).toBe('127.0.0.1');
    expect(readSettings({ ...required, MANAGEMENT_HOST: '::' }).management.host).toBe('::');
  });

  it('believes no proxy unless TRUST_PROXY names it', () => {
    const trusted = (text?: string) => readSettings({ ...required, TRUST_PROXY: text }).http.trustProxy;
    for (const nothing of [undefined, '', 'off']) expect(trusted(nothing)).toEqual([]);
    expect(trusted('127.0.0.1')).toEqual(['127.0.0.1']);
    expect(trusted('10.0.0.0/8, ::1,fd00::/8')).toEqual(['10.0.0.0/8', '::1', 'fd00::/8']);
    for (const edge of ['0.0.0.0/0', '1.2.3.4/32', '::/0', '::1/128']) expect(trusted(edge)).toEqual([edge]);
  });

  it.each([
    'on',
    'true',
    '1',
    'loopback',
    'proxy.local',
    '10.0.0.0/33',
    '10.0.0/8',
    '::1/129',
    '::1/',
    '::1/x',
    ',',
    '*',
  ])('TRUST_PROXY takes addresses and networks only: %s', (text) => {
    expect(fault({ TRUST_PROXY: text })).toMatch(/^TRUST_PROXY must be "off", or addresses and networks like /);
    expect(fault({ TRUST_PROXY: `10.0.0.1,${text}` })).toMatch(/^TRUST_PROXY /);
  });

  it('lets no script of another origin call unless CORS_ORIGINS names it', () => {
    const allowed = (text?: string) => readSettings({ ...required, CORS_ORIGINS: text }).http.corsOrigins;
    for (const nothing of [undefined, '', 'off']) expect(allowed(nothing)).toEqual([]);
    expect(allowed('https://a.example, http://localhost:5173')).toEqual(['https://a.example', 'http://localhost:5173']);
  });

  it.each([
    ...[
      '*',
      'null',
      'on',
      'a.example',
      '//a.example',
      'https://*.a.example',
      'https://A.example',
      'https://a.example/',
    ],
    ...['https://a.example:443', 'https://a.example/app', 'https://u:p@a.example', 'file:///', 'ws://a.example', ','],
  ])('CORS_ORIGINS takes origins as browsers name them only: %s', (text) => {
    expect(fault({ CORS_ORIGINS: text })).toMatch(/^CORS_ORIGINS must be "off", or origins like /);
    expect(fault({ CORS_ORIGINS: `https://b.example,${text}` })).toMatch(/^CORS_ORIGINS /);
  });

  it('has no operators and hence no operators\u2019 key at first', () => {
    expect(readSettings(required).adminApiKey).toBeNull();
    const key = 'k'.repeat(32);
    expect(readSettings({ ...required, ADMIN_API_KEY: key }).adminApiKey).toBe(key);
  });

  it.each(['DATABASE_URL', 'API_KEY_PEPPER'])('%s must be set', (name) => {
    for (const nothing of [undefined, ''])
      expect(fault({ [name]: nothing })).toMatch(new RegExp(`^${name} is required: `));
  });

  it.each(['a secret of several words, long enough', 'schlüssel-schlüssel-schlüssel-schlüssel'])(
    'ADMIN_API_KEY can be sent as a bearer token, so not %p',
    (key) => {
      expect(() => readSettings({ ...required, ADMIN_API_KEY: key })).toThrow(/^ADMIN_API_KEY must be visible ASCII/);
    },
  );

  it.each(['API_KEY_PEPPER', 'ADMIN_API_KEY'])('%s must be a long secret, which is never repeated', (name) => {
    expect(fault({ [name]: 'tooshort' })).toBe(`${name} must be a secret of at least 32 characters.`);
  });

  it.each([
    'mysql://sluice:hunter2@localhost/sluice',
    'hunter2',
    'postgres://',
    'postgres://sluice:hunter2@local host/x',
  ])('DATABASE_URL must be one of PostgreSQL, and its password is never repeated: %s', (url) => {
    expect(fault({ DATABASE_URL: url })).toMatch(/^DATABASE_URL must be a URL like /);
    expect(fault({ DATABASE_URL: url })).not.toContain('hunter2');
  });

  it.each(['postgres://localhost/sluice', 'postgresql://user@[::1]:6432/sluice?sslmode=require'])(
    'DATABASE_URL takes %s as it is',
    (url) => {
      expect(readSettings({ ...required, DATABASE_URL: url }).database.url).toBe(url);
    },
  );

  it('exports traces when there is a collector', () => {
    const tracing = (env: Record<string, string>) => readSettings({ ...required, ...env }).tracing;
    expect(tracing({})).toBe(false);
    expect(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER: 'whatever' })).toBe(false);
    expect(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })).toBe(true);
    expect(tracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' })).toBe(true);
  });

  it('exports none when OTEL_SDK_DISABLED is true, and only then', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
    const tracing = (text: string) => readSettings({ ...required, ...endpoint, OTEL_SDK_DISABLED: text }).tracing;
    expect(['true', 'TRUE', 'false', '', '1', 'yes'].map(tracing)).toEqual([false, false, true, true, true, true]);
  });

  it.each(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])(
    '%s must be a URL, which is never repeated',
    (name) => {
      for (const bad of ['hunter2:4318', 'grpc://hunter2', 'http://', 'http://a:hunter2@local host']) {
        expect(fault({ [name]: bad })).toBe(`${name} must be a URL like http://127.0.0.1:4318.`);
      }
    },
  );

  it('refuses what OpenTelemetry would take for its default', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
    for (const [name, good, bad] of [
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', 'grpc'],
      ['OTEL_TRACES_SAMPLER', 'parentbased_traceidratio', 'jaeger_remote'],
      ['OTEL_TRACES_SAMPLER_ARG', '0.25', '1.5'],
      ['OTEL_TRACES_SAMPLER_ARG', '1', 'half'],
    ] as const) {
      expect(readSettings({ ...required, ...endpoint, [name]: good }).tracing).toBe(true);
      expect(fault({ ...endpoint, [name]: bad })).toMatch(new RegExp(`^${name} must be .*"${bad}"\\.$`));
    }
  });
});
