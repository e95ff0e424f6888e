import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Cli } from '../support/cli.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { listen } from '../support/processes.js';
import { KEY, LEAF } from '../support/receiver-certificates.js';
import type { Settings } from '../support/hosted-api.js';
import { NO_REDIS, TestRedis, TestRedisSentinels } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';

jest.setTimeout(300_000);

interface Place {
  readonly url: string;
  readonly topology?: string;
  readonly settings?: Settings;
  stop(): Promise<unknown>;
}

const running = async (options: readonly string[] = [], change = (url: string) => url): Promise<Place> => {
  const redis = await TestRedis.start(...options);
  return { url: change(redis.url), stop: () => redis.stop() };
};

const listening = async (server: Server, scheme = 'redis'): Promise<Place> => {
  const { host } = new URL(await listen(server));
  return { url: `${scheme}://${host}`, stop: () => Promise.resolve(server.close()) };
};

/** Answers this to each command. */
const answering = (answer: (command: string) => string) => () =>
  listening(
    createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        for (const command of data
          .toString()
          .split(/^\*\d+\r\n/m)
          .slice(1))
          socket.write(answer(command));
      });
    }),
  );

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
const isInfo = (command: string) => /^\$4\r\ninfo\r\n/i.test(command);
const closing = (socket: Socket) => socket.on('error', () => undefined).once('data', () => socket.destroy());

/** Of TLS, as a server sends it that gets something else. */
const ALERT = Buffer.from([0x15, 3, 1, 0, 2, 2, 70]);

const NAME = 'The Redis server at REDIS_URL';
const user = (...rules: string[]) => ['--user', 'app', 'on', '>secret', ...rules];
const CLUSTER = ['--cluster-enabled', 'yes'];
const without = (category: string): [string, RegExp, () => Promise<Place>] => [
  `no commands of @${category}`,
  /to run the '\w+' command/,
  () => running(user('~*', '+@all', `-@${category}`, '+info'), asUser),
];
const ofSentinels = async (): Promise<Place> => {
  const sentinels = await TestRedisSentinels.start();
  const master = await sentinels.master();
  await master.run((redis) => redis.acl('SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-eval'));
  const { REDIS_URL, ...settings } = sentinels.settings;
  const url = REDIS_URL.replaceAll(/\/\/:[^,@]*@/g, '//app:secret@');
  return { url, topology: 'sentinel', settings, stop: () => sentinels.stop() };
};
const asUser = (url: string) => url.replace('//', '//app:secret@');
const at = (url: string): Promise<Place> => Promise.resolve({ url, stop: () => Promise.resolve() });

const REFUSED: readonly (readonly [what: string, open: () => Promise<Place>, sentence: string | RegExp])[] = [
  [
    'gets another password',
    () => running(['--requirepass', 'right'], (url) => url.replace('right', 'secret')),
    `${NAME} does not accept its user and password, or requires a password.`,
  ],
  [
    'gets no password',
    () => running(['--requirepass', 'right'], (url) => url.replace(':right@', '')),
    `${NAME} does not accept its user and password, or requires a password.`,
  ],
  [
    'does not know the user',
    () => running([], (url) => url.replace('//', '//nobody:secret@')),
    `${NAME} does not accept its user and password, or requires a password.`,
  ],
  [
    'does not let the user look',
    () => running(user('~*', '+@all', '-info'), asUser),
    /^The user in REDIS_URL lacks a permission: NOPERM .*'info' command\.$/,
  ],
  [
    'does not know its command',
    () => running(['--rename-command', 'INFO', '']),
    /^The Redis server at REDIS_URL cannot be used: ERR unknown command '?`?info[^.]*\.$/i,
  ],
  ...['EVAL', 'EVALSHA', 'BZPOPMIN'].map((name): [string, () => Promise<Place>, RegExp] => [
    `does not know ${name}`,
    () => running(['--rename-command', name, '']),
    new RegExp(`cannot be used: ERR unknown command .${name}.: it was renamed or disabled\\.$`, 'i'),
  ]),
  [
    'has fewer databases',
    () => running([], (url) => `${url}/99`),
    `${NAME} cannot be used: ERR DB index is out of range.`,
  ],
  [
    'is a replica',
    () => running(['--replicaof', '127.0.0.1', '1']),
    `${NAME} is a replica of 127.0.0.1:1, which accepts no writes: use the URL of its master.`,
  ],
  [
    'is a cluster',
    () => running(['--cluster-enabled', 'yes']),
    `${NAME} is a cluster: set REDIS_TOPOLOGY to cluster, or change the URL.`,
  ],
  [
    'is no cluster',
    async () => ({ ...(await running()), topology: 'cluster' }),
    `${NAME} is a single server: set REDIS_TOPOLOGY to standalone, or change the URL.`,
  ],
  [
    'is no sentinel',
    async () => ({ ...(await running()), topology: 'sentinel' }),
    `${NAME} is a single server: set REDIS_TOPOLOGY to standalone, or change the URL.`,
  ],
  [
    'is old',
    answering((command) => (isInfo(command) ? bulk('redis_version:5.0.7\r\nredis_mode:standalone') : '+OK\r\n')),
    `${NAME} has version 5.0.7: BullMQ needs 6.2 or newer.`,
  ],
  [
    'is too old for users',
    async () => {
      const place = await answering(() => "-ERR wrong number of arguments for 'auth' command\r\n")();
      return { ...place, url: place.url.replace('//', '//app:secret@') };
    },
    `${NAME} is older than Redis 6, which BullMQ needs: it does not know users.`,
  ],
  [
    'loads its data',
    answering(() => '-LOADING Redis is loading the dataset in memory\r\n'),
    `${NAME} is not ready: LOADING Redis is loading the dataset in memory.`,
  ],
  [
    'has lost its master',
    answering(() => "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n"),
    `${NAME} is not ready: MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.`,
  ],
  [
    'is an HTTP server',
    () =>
      listening(createServer((socket) => socket.on('error', () => undefined).write('HTTP/1.1 400 Bad Request\r\n'))),
    `${NAME} does not respond as Redis does: Protocol error, got "H" as reply type byte.`,
  ],
  [
    'is a PostgreSQL',
    async () => {
      const { port } = new URL((await database()).url);
      return at(`redis://127.0.0.1:${port}`);
    },
    `${NAME} has closed the connection without a response: use rediss:// if it expects TLS.`,
  ],
  [
    'hangs up',
    () => listening(createServer(closing)),
    `${NAME} has closed the connection without a response: use rediss:// if it expects TLS.`,
  ],
  [
    'hangs up on TLS',
    () => listening(createServer(closing), 'rediss'),
    /^The Redis server at REDIS_URL (has closed the connection without a response: use redis:\/\/ if it does not expect TLS|cannot be used: TLS failed: .*\. See sslmode and sslrootcert in the settings)\.$/,
  ],
  [
    'expects TLS',
    () =>
      listening(createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(ALERT)))),
    `${NAME} expects TLS: use rediss://.`,
  ],
  [
    'does not expect TLS',
    () => running([], (url) => url.replace('redis:', 'rediss:')),
    `${NAME} does not respond to TLS: use redis:// if it does not expect it.`,
  ],
  [
    'has a certificate that nobody trusts',
    () =>
      listening(
        createTlsServer({ key: KEY, cert: LEAF }).on('tlsClientError', () => undefined),
        'rediss',
      ),
    `${NAME} cannot be used: TLS failed: unable to verify the first certificate. See sslmode and sslrootcert in the settings.`,
  ],
  ...(['TLSv1.2', 'TLSv1.3'] as const).map((version): [string, () => Promise<Place>, RegExp] => [
    `requires a client certificate (${version})`,
    async () => {
      const tls = { key: KEY, cert: LEAF, requestCert: true, minVersion: version, maxVersion: version };
      const place = await listening(
        createTlsServer(tls).on('tlsClientError', () => undefined),
        'rediss',
      );
      return { ...place, url: `${place.url}?sslmode=require` };
    },
    /cannot be used: TLS failed: [\w ]+ alert [\w ]+\. See sslcert and sslkey in the settings\.$/,
  ]),
  ['has no address', () => at('redis://nowhere.invalid:6379'), /cannot be reached: (ENOTFOUND|EAI_AGAIN)\.$/],
  ['does not listen', () => at('redis://127.0.0.1:1'), `${NAME} cannot be reached: ECONNREFUSED.`],
];

let shared: Promise<TestDatabase> | undefined;
const database = () => (shared ??= createTestDatabase());

describeUnless(NO_REDIS)('With a Redis that', () => {
  const cli = new Cli({});
  afterAll(async () => {
    cli.remove();
    await (await shared)?.drop();
  });

  const census = async ({ url, topology = 'standalone', settings }: Place) => {
    const env = { DATABASE_URL: (await database()).url, ...settings, REDIS_URL: url, REDIS_TOPOLOGY: topology };
    return cli.run(['census'], { env });
  };

  it.each(REFUSED)('%s, a command says so in one sentence and ends', async (_what, open, sentence) => {
    const place = await open();
    const { code, stdout, stderr } = await census(place);
    await place.stop();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const [line, ...others] = stderr.replace(/^error: /, '').split('\n');
    expect(others).toEqual(['']);
    if (typeof sentence === 'string') expect(line).toBe(sentence);
    else expect(line).toMatch(sentence);
  });

  it.each<[what: string, refused: RegExp, open: () => Promise<Place>]>([
    ['other keys', /access/, () => running(user('~bull:others:*', '+@all'), asUser)],
    ['the keys only to read', /access/, () => running(user('%R~*', '+@all'), asUser)],
    ['the keys only to write', /access/, () => running(user('%W~*', '+@all'), asUser)],
    ...['blocking', 'scripting', 'keyspace', 'read', 'write', 'fast', 'slow'].map(without),
    ...['string', 'hash', 'list', 'set', 'sortedset', 'stream'].map(without),
    [
      'no scripts in a cluster',
      /to run the 'eval' command/,
      async () => ({ ...(await running([...user('~*', '+@all', '-eval'), ...CLUSTER], asUser)), topology: 'cluster' }),
    ],
    [
      'nothing of a cluster',
      /to run the 'cluster\|slots' command/,
      async () => ({
        ...(await running([...user('~*', '+@all', '-cluster'), ...CLUSTER], asUser)),
        topology: 'cluster',
      }),
    ],
    ['no scripts of a master that sentinels know', /to run the 'eval' command/, ofSentinels],
  ])('lets the user use %s, a command says so in one sentence and ends', async (_what, refused, open) => {
    const place = await open();
    const { code, stdout, stderr } = await census(place);
    await place.stop();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: The user in REDIS_URL lacks a permission[^\n]*: NOPERM [^\n]*\.\n$/);
    expect(stderr).toMatch(refused);
  });

  it.each([
    ['needs no password', [], ':secret@'],
    ['has a user of this name', user('~bull:messages:*', '+@all', '-@admin', '-@dangerous', '+info'), 'app:secret@'],
    ['deletes jobs', ['--maxmemory-policy', 'allkeys-lru'], ''],
  ])('%s, a command prints nothing else', async (_what, options, credentials) => {
    const place = await running(options, (url) => url.replace('//', `//${credentials}`));
    const { code, stdout, stderr } = await census(place);
    await place.stop();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/WARN/);
  });
});
