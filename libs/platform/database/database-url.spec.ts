import { UsageError } from '../process/usage-error.js';
import { parseDatabaseUrl, type Attempt } from './database-url.js';

const ODD = [
  '%',
  '@',
  ':',
  '/',
  '#',
  '?',
  ' ',
  '&',
  '=',
  '+',
  ',',
  '[',
  '\\',
  '"',
  'ü',
  '€',
  '🔑',
  'a%b',
  '%41',
  '100%',
];

const hostsOf = (url: string) => parseDatabaseUrl(url).attempts.map(({ host, port }: Attempt) => [host, port]);

describe('A URL of PostgreSQL', () => {
  it.each(ODD)('may have a user, a password and a database with %s, percent-encoded', (text) => {
    const encoded = encodeURIComponent(text);
    const expected = { user: text, password: text, database: text };
    expect(parseDatabaseUrl(`postgres://${encoded}:${encoded}@host/${encoded}`)).toMatchObject(expected);
    const query = `user=${encoded}&password=${encoded}&dbname=${encoded}`;
    expect(parseDatabaseUrl(`postgresql://host/?${query}`)).toMatchObject(expected);
    expect(parseDatabaseUrl(`postgresql://host?${query}`)).toMatchObject(expected);
  });

  it.each(['100%', 'p%ss', 'p:q', 'p@q', 'p#q', 'p?q', 'p q', 'ü€'])('may have a password as it is: %s', (password) => {
    const address = parseDatabaseUrl(`postgres://user:${password}@host:5432/db`);
    expect(address).toMatchObject({ user: 'user', password, database: 'db' });
    expect(address.attempts).toEqual([{ host: 'host', address: undefined, port: 5432, encrypted: false }]);
  });

  it.each<[string, (string | number | undefined)[][]]>([
    ['postgres:///db', [[undefined, undefined]]],
    ['postgres://host', [['host', undefined]]],
    ['postgres://host:6432/db', [['host', 6432]]],
    ['postgres://[::1]:6432/db', [['::1', 6432]]],
    [
      'postgres://a:1,b:2,[::1]/db',
      [
        ['a', 1],
        ['b', 2],
        ['::1', undefined],
      ],
    ],
    [
      'postgres://u:p@a,b:2/db',
      [
        ['a', undefined],
        ['b', 2],
      ],
    ],
    [
      'postgres:///db?host=a,b&port=7',
      [
        ['a', 7],
        ['b', 7],
      ],
    ],
    ['postgres://%2Fvar%2Frun%2Fpostgresql/db', [['/var/run/postgresql', undefined]]],
    ['postgres://%2Fvar%2Frun:5433/db', [['/var/run', 5433]]],
    ['postgres:///db?host=/var/run/postgresql&port=5433', [['/var/run/postgresql', 5433]]],
    ['postgres://?host=/var/run&dbname=db', [['/var/run', undefined]]],
    ['postgres://ignored/db?host=real', [['real', undefined]]],
    ['postgres://name/db?hostaddr=127.0.0.1', [['name', undefined]]],
  ])('leads to hosts: %s', (url, hosts) => {
    expect(hostsOf(url)).toEqual(hosts);
  });

  it.each([
    ['', [false], 'none'],
    ['sslmode=disable', [false], 'none'],
    ['sslmode=allow', [false, true], 'none'],
    ['sslmode=prefer', [true, false], 'none'],
    ['sslmode=require', [true], 'none'],
    ['sslmode=require&sslrootcert=/ca.pem', [true], 'chain'],
    ['sslmode=verify-ca&sslrootcert=/ca.pem', [true], 'chain'],
    ['sslmode=verify-full&sslrootcert=/ca.pem', [true], 'name'],
    ['sslmode=verify-full', [true], 'name'],
    ['sslrootcert=system', [true], 'name'],
    ['sslrootcert=/ca.pem', [true], 'name'],
    ['sslcert=/cert.pem&sslkey=/key.pem', [true], 'name'],
    ['sslcrl=/crl.pem', [true], 'name'],
    ['sslcert=/cert.pem&sslkey=/key.pem&sslmode=prefer', [true, false], 'none'],
    ['sslmode=no-verify', [true], 'none'],
    ['ssl=true', [true], 'none'],
    ['ssl=0', [false], 'none'],
  ])('is encrypted like in libpq with %s', (query, encrypted, verification) => {
    const { attempts, tls } = parseDatabaseUrl(`postgres://host/db?${query}`);
    expect([attempts.map((attempt) => attempt.encrypted), tls.verification]).toEqual([encrypted, verification]);
  });

  it('is never encrypted over a Unix socket', () => {
    const { attempts } = parseDatabaseUrl('postgres:///db?host=/tmp&sslmode=verify-full');
    expect(attempts).toMatchObject([{ host: '/tmp', encrypted: false }]);
  });

  it('has other parameters', () => {
    const query = 'application_name=mine&connect_timeout=2&keepalives=0&keepalives_idle=7&options=-c%20work_mem%3D7MB';
    expect(parseDatabaseUrl(`postgres://host/db?${query}&target_session_attrs=read-write`)).toMatchObject({
      ...{ applicationName: 'mine', connectTimeoutMs: 2_000, keepAlive: false, keepAliveIdleMs: 7_000 },
      ...{ options: '-c work_mem=7MB', channelBinding: 'prefer' },
    });
  });

  it.each([
    ...['hunter2', 'mysql://hunter2@host/db', 'postgres://', 'http://u:hunter2@host', 'postgres://u:hunter2@a b/db'],
    ...['postgres://u:hunter2@host:port/db', 'postgres://u:hunter2@host:99999/db', 'postgres://u:hunter2@host:0/db'],
    ...[
      'postgres://u:hunter2@host/db\n',
      'postgres://u:hunter2@host/db ',
      'postgres://u:hunter2\r@host/db',
      '\tpostgres:',
    ],
    ...['postgres://u:hunter2%ff@host/db', 'postgres://u:hunter2%00@host/db', 'postgres://u:hunter2/slash@host/db'],
    ...[
      'sslmode=require&sslcert=/hunter2',
      'sslkey=/hunter2',
      'host=a,b,c&port=1,2',
      'sslmode=hunter2',
      'hunter2=1',
      'hunter2',
      'sslmode=verify-ca',
      'service=hunter2',
    ],
    ...['sslmode=require&sslrootcert=system', 'target_session_attrs=standby', 'gssencmode=require', 'port=hunter2'],
    ...[
      'client_encoding=LATIN1',
      'passfile=hunter2',
      'connect_timeout=soon',
      'channel_binding=hunter2',
      'keepalives=2',
    ],
    ...['keepalives_interval=1', 'tcp_user_timeout=1', 'requirepeer=hunter2', 'sslnegotiation=direct'],
    ...['load_balance_hosts=always', 'replication=database', '__proto__=1', 'constructor=1'],
  ])('is refused with a sentence that contains nothing of it: %s', (text) => {
    const url = /^\s*[\w-]+:|^hunter2$/.test(text) ? text : `postgres://u:hunter2@host/db?${text}`;
    const refused = () => parseDatabaseUrl(url);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(/^DATABASE_URL must be a? ?[^\n]+\.$/);
    expect(refused).not.toThrow(/hunter2|slash/);
  });
});
