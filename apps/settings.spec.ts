import { Environment } from '#platform/process/environment.js';
import { readSettings, type Settings } from './settings.js';
import { UsageError } from '#platform/process/usage-error.js';

type Variables = Record<string, string | undefined>;

const required = {
  DATABASE_URL: 'postgres://sluice:hunter2@localhost:5432/sluice',
  API_KEY_PEPPER: 'p'.repeat(32),
};
const settings = (variables: Variables = {}) => readSettings({ ...required, ...variables });

/** The message of the error; fails if there is none. */
function errorOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error('The value was accepted.');
}

const settingsError = (variables: Variables) => errorOf(() => settings(variables));

/** Of each number: its variable, where it is found, its default, and its bounds. */
const numbers: [string, (settings: Settings) => number, number, number, number][] = [
  ['PORT', ({ http }) => http.port, 3_000, 0, 65_535],
  ['MANAGEMENT_PORT', ({ management }) => management.port, 9_464, 0, 65_535],
  ['MAX_BODY_BYTES', ({ http }) => http.maxBodyBytes, 1_048_576, 1_024, 67_108_864],
  ['MAX_BUFFERED_MB', ({ http }) => http.maxBufferedBytes / 1_048_576, 64, 8, 65_536],
  ['REQUEST_TIMEOUT_MS', ({ http }) => http.requestTimeoutMs, 30_000, 100, 600_000],
  ['MAX_CONNECTIONS', ({ http }) => http.maxConnections, 10_000, 10, 1_000_000],
  ['MAX_WAIT_MS', ({ http }) => http.maxWaitMs, 500, 10, 600_000],
  ['SHUTDOWN_GRACE_MS', ({ shutdownGraceMs }) => shutdownGraceMs, 10_000, 0, 600_000],
  ['DATABASE_POOL_SIZE', ({ database }) => database.poolSize, 10, 2, 1_000],
  ['WORKER_CONCURRENCY', ({ worker }) => worker.concurrency, 50, 1, 1_000],
  ['WORKER_RATE', ({ worker }) => worker.rate, 0, 0, 1_000_000],
  ['WORKER_LOCK_MS', ({ worker }) => worker.lockMs, 5_000, 1_000, 600_000],
  ['MAX_ATTEMPTS', ({ retries }) => retries.maxAttempts, 5, 1, 100],
  ['BACKOFF_MS', ({ retries }) => retries.backoffMs, 1_000, 1, 86_400_000],
  ['MAX_BACKOFF_MS', ({ retries }) => retries.maxBackoffMs, 3_600_000, 1, 86_400_000],
  ['ATTEMPT_TIMEOUT_MS', ({ worker }) => worker.attemptTimeoutMs, 30_000, 10, 3_600_000],
  ['SIGNUPS_PER_HOUR', ({ signup }) => signup.perHour, 20, 0, 1_000_000],
  ['READS_PER_ACCOUNT', (all) => all.reads.perAccount, 2, 1, 1_000],
  ['READ_TIMEOUT_MS', (all) => all.reads.timeoutMs, 2_000, 10, 600_000],
  ['MAX_DATABASE_MB', (all) => all.space.maxDatabaseMb, 0, 0, 1_000_000_000],
  ['MIN_FREE_DISK_MB', (all) => all.space.minFreeMb, 512, 0, 1_000_000_000],
  ['MAX_STORED_MB_FREE', (all) => all.maxStoredMb.byPlan.get('free') ?? NaN, 1_024, 0, 1_000_000_000],
  ['MAX_STORED_MB_PRO', (all) => all.maxStoredMb.byPlan.get('pro') ?? NaN, 5_120, 0, 1_000_000_000],
  ['MAX_STORED_MB_PER_ACCOUNT', (all) => all.maxStoredMb.perAccount, 10_240, 0, 1_000_000_000],
  ['ANONYMOUS_PER_MINUTE', ({ anonymousPerMinute }) => anonymousPerMinute, 300, 1, 1_000_000],
  ['BAN_GRACE_SECONDS', ({ bans }) => bans.graceMs / 1_000, 2, 0, 3_600],
  ['BAN_AFTER_REFUSALS', ({ bans }) => bans.afterRefusals, 30, 1, 1_000_000],
  ['BAN_SECONDS', ({ bans }) => bans.banMs / 1_000, 60, 1, 86_400],
  ['BAN_MAX_SECONDS', ({ bans }) => bans.maxBanMs / 1_000, 3_600, 1, 604_800],
  ['RETENTION_DAYS', ({ retentionDays }) => retentionDays, 30, 1, 3_650],
  ['RECONCILE_INTERVAL_MS', ({ reconcileIntervalMs }) => reconcileIntervalMs, 30_000, 100, 86_400_000],
];

const KEY = 'k'.repeat(32);

/** Of each other setting: its variable, where it is found, its default, texts with their values, and invalid texts. */
const others: [string, (settings: Settings) => unknown, unknown, [string, unknown][], string[]][] = [
  ['HOST', ({ http }) => http.host, '0.0.0.0', [['127.0.0.1', '127.0.0.1']], []],
  ['MANAGEMENT_HOST', ({ management }) => management.host, '127.0.0.1', [['::', '::']], []],
  [
    ...(['MANAGEMENT_ALLOWED_HOSTS', ({ management }: Settings) => management.allowedHosts, []] as const),
    [
      ['off', []],
      ['api, *.svc.cluster.local,sluice.internal', ['api', '*.svc.cluster.local', 'sluice.internal']],
    ],
    ['*', '*.', 'a..b', 'api:9464', 'http://api', '[::1]', 'a b', 'a,', '.local', 'a.*'],
  ],
  ['SIGNUP', ({ signup }) => signup.open, false, [['open', true]], ['Open']],
  ['PORTAL', ({ portal }) => portal, true, [['off', false]], ['false']],
  [
    ...(['PUBLIC_URL', ({ http }: Settings) => http.publicUrl, null] as const),
    [['https://sluice.example.com', 'https://sluice.example.com']],
    ['sluice.example.com', 'https://sluice.example.com/', 'https://sluice.example.com/path', 'off'],
  ],
  [
    ...(['PORTAL_FRAME_ANCESTORS', (settings: Settings) => settings.portalFrameAncestors, []] as const),
    [
      ['off', []],
      ['https://a.example.com, http://b:3000', ['https://a.example.com', 'http://b:3000']],
    ],
    ['*', 'none', "'self'", 'https://a.example.com/', 'https://*.example.com', 'https://a;script-src b'],
  ],
  [
    'DATABASE_DIR',
    ({ space }) => space.folder,
    null,
    [['apps', 'apps']],
    ['app', 'package.json', 'package.json/app', 'a\0b'],
  ],
  ['LOG_LEVEL', ({ logLevel }) => logLevel, 'info', [['trace', 'trace']], ['verbose']],
  ['QUEUE_NAME', ({ queueName }) => queueName, 'messages', [['a.b_c-D9', 'a.b_c-D9']], ['two words', 'a'.repeat(41)]],
  [
    ...(['ACCESS_LOG_SAMPLE', ({ accessLogSample }: Settings) => accessLogSample, 0.01] as const),
    ['0', '1', '.5', '0.001', '1.0'].map((text): [string, number] => [text, Number(text)]),
    ['1.1', '2', '-1', '1e-3', '1%', '0,5', ' 1', '.', 'all'],
  ],
  [
    ...(['TRUST_PROXY', ({ http }: Settings) => http.trustProxy, []] as const),
    [
      ['off', []],
      ['10.0.0.0/8, ::1,fd00::/8', ['10.0.0.0/8', '::1', 'fd00::/8']],
      ...['127.0.0.1', '0.0.0.0/1', '1.2.3.4/32', '10.0.0.1/8', '::/1', '::1/128'].map((text): [string, string[]] => [
        text,
        [text],
      ]),
      ...['::ffff:10.0.0.1', '::ffff:10.0.0.0/104', '::ffff:0:0/97', '::FFFF:0A00:1/128'].map(
        (text): [string, string[]] => [text, [text]],
      ),
    ],
    [
      ...['::ffff:10.0.0.0/8', '::ffff:10.0.0.0/95', '::ffff:0:0/96', '::ffff:10.0.0.0/129', '0:0:0:0:0:ffff::/96'],
      ...['10.0.0.0/08', '10.0.0.0/008', '::ffff:10.0.0.0/0104', '10.0.0.0/+8'],
      ...[
        'on',
        'true',
        '1',
        'loopback',
        'proxy.local',
        '10.0.0.0/33',
        '10.0.0/8',
        '10.0.0.0/8/9',
        '0.0.0.0/0',
        '::/0',
        '::1/129',
        '::1/',
        '::1/x',
        ',',
        '*',
      ],
      '10.0.0.1,on',
    ],
  ],
  [
    ...(['CORS_ORIGINS', ({ http }: Settings) => http.corsOrigins, []] as const),
    [
      ['off', []],
      ['https://a.example, http://localhost:5173', ['https://a.example', 'http://localhost:5173']],
    ],
    [
      ...['*', 'null', 'on', 'a.example', '//a.example', 'https://*.a.example', 'https://A.example'],
      ...['https://a.example/', 'https://a.example:443', 'https://a.example/app', 'https://u:p@a.example'],
      ...['file:///', 'ws://a.example', ',', 'https://b.example,*'],
    ],
  ],
  [
    ...(['ADMIN_API_KEY', ({ operatorKeys }: Settings) => operatorKeys, []] as const),
    [
      [KEY, [{ name: 'operator', key: KEY }]],
      [`alice:${KEY}`, [{ name: 'alice', key: KEY }]],
      [
        `A.li-ce_1:${KEY}1, ${KEY}2,A.li-ce_1:${KEY}3`,
        [
          { name: 'A.li-ce_1', key: `${KEY}1` },
          { name: 'operator', key: `${KEY}2` },
          { name: 'A.li-ce_1', key: `${KEY}3` },
        ],
      ],
    ],
    [],
  ],
];

/** Of each secret: texts that are not accepted. */
const secrets: [string, string[]][] = [
  ['API_KEY_PEPPER', ['tooshort']],
  ['API_KEY_PEPPER_PREVIOUS', ['tooshort']],
  [
    'ADMIN_API_KEY',
    [
      ...['tooshort', 'a secret of several words, long enough', 'schlüssel-schlüssel-schlüssel-schlüssel'],
      ...['alice:tooshort', `:${KEY}`, `a b:${KEY}`, `ali/ce:${KEY}`, `${'a'.repeat(41)}:${KEY}`, `alice:bob:${KEY}`],
      ...[`alice:${KEY},`, `,${KEY}`, `alice:${KEY},bob:tooshort`, `alice:${KEY},bob:${KEY}`, `${KEY},${KEY}`],
    ],
  ],
  ['DATABASE_URL', ['mysql://sluice:hunter2@localhost/sluice', 'hunter2', 'postgres://u:hunter2@local host/x']],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', ['hunter2:4318', 'grpc://hunter2', 'http://a:hunter2@local host']],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['hunter2:4318', 'grpc://hunter2', 'http://a:hunter2@local host']],
];

describe('readSettings', () => {
  it.each(numbers)('%s is a whole number within its bounds', (name, read, fallback, min, max) => {
    for (const text of [undefined, '']) expect(read(settings({ [name]: text }))).toBe(fallback);
    for (const value of [min, max]) expect(read(settings({ [name]: String(value) }))).toBe(value);
    for (const text of [min - 1, max + 1, 'many', '1.5', '1e3', ' 7', '0x10', '9'.repeat(400)].map(String)) {
      const message = `${name} must be a whole number from ${min} to ${max}; it is "${text}".`;
      expect(settingsError({ [name]: text })).toBe(message);
    }
  });

  it.each(others)('%s has a default, and names itself when it is not accepted', (name, read, fallback, good, bad) => {
    for (const text of [undefined, '']) expect(read(settings({ [name]: text }))).toEqual(fallback);
    for (const [text, value] of good) expect(read(settings({ [name]: text }))).toEqual(value);
    for (const text of bad) {
      const message = settingsError({ [name]: text });
      expect(message).toMatch(new RegExp(`^${name} must be `));
      expect(message.endsWith(`; it is "${text}".`)).toBe(true);
    }
  });

  it.each(secrets)('%s does not appear in the error', (name, bad) => {
    for (const text of bad) {
      const message = settingsError({ [name]: text });
      expect(message).toMatch(new RegExp(`^${name} must be .*\\.$`));
      expect(message).not.toMatch(new RegExp(`${text}|hunter2`));
    }
  });

  it.each(['DATABASE_URL', 'API_KEY_PEPPER'])('%s is required', (name) => {
    for (const text of [undefined, '']) expect(settingsError({ [name]: text })).toMatch(`${name} is required: `);
  });

  it.each(['postgres://localhost/sluice', 'postgresql://user@[::1]:6432/sluice?sslmode=require'])(
    'DATABASE_URL is not changed: %s',
    (url) => {
      expect(settings({ DATABASE_URL: url }).database.url).toBe(url);
    },
  );

  it.each([
    [{}, null],
    [{ REDIS_URL: '', REDIS_TOPOLOGY: 'cluster' }, null],
    [{ REDIS_URL: 'redis://a:6379/0' }, { urls: ['redis://a:6379/0'], topology: 'standalone', shards: 1 }],
    [
      { REDIS_URL: 'redis://a:1,rediss://u:p@b:2', REDIS_TOPOLOGY: 'sentinel', REDIS_SENTINEL_MASTER: 'main' },
      { urls: ['redis://a:1', 'rediss://u:p@b:2'], topology: 'sentinel', sentinel: { master: 'main', password: null } },
    ],
    [
      { REDIS_URL: 'redis://a', REDIS_TOPOLOGY: 'cluster', QUEUE_SHARDS: '64' },
      { topology: 'cluster', shards: 64 },
    ],
  ])('a Redis is found by %j', (variables, redis) => {
    const found = settings(variables).redis;
    if (redis === null) expect(found).toBeNull();
    else expect(found).toMatchObject(redis);
  });

  it.each([
    [{ REDIS_URL: 'redis://a,redis://b' }, 'Several URLs in REDIS_URL need REDIS_TOPOLOGY=sentinel'],
    [{ REDIS_URL: 'http://hunter2' }, 'REDIS_URL must be '],
    [{ REDIS_URL: 'redis://:hunter2@a,b', REDIS_TOPOLOGY: 'cluster' }, 'REDIS_URL must be '],
    [{ REDIS_URL: 'redis://a/x?hunter2' }, 'REDIS_URL must be '],
    [{ REDIS_URL: 'redis://a', REDIS_TOPOLOGY: 'ring' }, 'REDIS_TOPOLOGY must be '],
    [{ QUEUE_SHARDS: '65' }, 'QUEUE_SHARDS must be '],
  ])('no Redis is used by %j', (variables, sentence) => {
    const message = settingsError(variables);
    expect(message).toContain(sentence);
    expect(message).not.toContain('hunter2');
  });

  it('exports traces if there is a collector, unless OTEL_SDK_DISABLED is true', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
    expect(settings().tracing).toBe(false);
    expect(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER: 'ignored' }).tracing).toBe(false);
    expect(settings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' }).tracing).toBe(true);
    const disabled = ['true', 'TRUE', 'false', '', '1', 'yes'];
    expect(disabled.map((text) => settings({ ...endpoint, OTEL_SDK_DISABLED: text }).tracing)).toEqual([
      ...[false, false, true, true, true, true],
    ]);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'parentbased_traceidratio', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '0.25', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', '1', 'half'],
  ])('%s must not fall back to a default of the SDK', (name, good, bad) => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
    expect(settings({ ...endpoint, [name]: good }).tracing).toBe(true);
    expect(settingsError({ ...endpoint, [name]: bad })).toMatch(new RegExp(`^${name} must be .*"${bad}"\\.$`));
  });
});

describe('A message handler reads from the Environment', () => {
  const URLS = ['http:', 'https:'];
  const environmentError = (read: (environment: Environment) => unknown, variables: Variables = {}) =>
    errorOf(() => read(new Environment(variables)));

  it('texts, URLs, numbers and choices', () => {
    const environment = new Environment({ A: 'a text', B: 'https://a.example/b', C: '7', D: 'two' });
    expect(environment.text('A', 'what it is')).toBe('a text');
    expect(environment.url('B', 'where', URLS).href).toBe('https://a.example/b');
    expect([environment.integer('C', 1, 0, 10), environment.integer('X', 1, 0, 10)]).toEqual([7, 1]);
    expect(environment.oneOf('D', 'one', ['one', 'two'])).toBe('two');
  });

  it('what is required', () => {
    expect(environmentError((env) => env.text('A', 'what it is'))).toBe('A is required: what it is.');
    expect(environmentError((env) => env.url('A', 'where', URLS), { A: '' })).toBe('A is required: where.');
  });

  it.each(['ftp://a.example', 'a.example', 'http://', 'https:'])('no URL like %s', (text) => {
    const message = environmentError((env) => env.url('A', 'where', URLS), { A: text });
    expect(message).toBe('A must be a URL that begins with http:// or https://.');
  });
});
