import { UsageError } from '../process/usage-error.js';
import { optionsOf, parseRedisUrl } from './redis-url.js';

const ODD = ['%', '@', ':', '/', '#', '?', ' ', '&', ',', 'ü', '🔑', 'a%b', '%41'];

describe('A URL of Redis', () => {
  it.each(ODD)('may have a user and a password with %s, percent-encoded', (text) => {
    const encoded = encodeURIComponent(text);
    const options = optionsOf(parseRedisUrl(`redis://${encoded}:${encoded}@host:6380/3`));
    expect(options).toEqual({ host: 'host', port: 6380, username: text, password: text, db: 3 });
  });

  it.each(['100%', 'p%ss', 'p:q', 'p@q', 'p#q', 'p?q', 'p q', 'ü€'])('may have a password as it is: %s', (password) => {
    expect(optionsOf(parseRedisUrl(`redis://:${password}@host`))).toEqual({
      host: 'host',
      port: 6379,
      password,
      db: 0,
    });
  });

  it.each([
    ['redis://host', { host: 'host', port: 6379, db: 0 }],
    ['redis://host/', { host: 'host', port: 6379, db: 0 }],
    ['redis://[::1]:7000/2', { host: '::1', port: 7000, db: 2 }],
    ['redis://host?db=4&family=6', { host: 'host', port: 6379, db: 4, family: 6 }],
    ['redis://user@host', { host: 'host', port: 6379, db: 0, username: 'user' }],
    ['/tmp/redis.sock', { path: '/tmp/redis.sock', db: 0 }],
    ['/tmp/redis.sock?db=2', { path: '/tmp/redis.sock', db: 2 }],
    ['unix:///tmp/redis.sock', { path: '/tmp/redis.sock', db: 0 }],
    [
      'unix://user:p@ss%2F@/tmp/redis.sock?db=2',
      { path: '/tmp/redis.sock', db: 2, username: 'user', password: 'p@ss/' },
    ],
    ['redis://host/2?db=2', { host: 'host', port: 6379, db: 2 }],
    ['redis://host/?db=2', { host: 'host', port: 6379, db: 2 }],
  ])('leads to a server: %s', (url, options) => {
    expect(optionsOf(parseRedisUrl(url))).toEqual(options);
  });

  it.each([
    ['rediss://host', { rejectUnauthorized: true }],
    ['rediss://host?sslmode=verify-full', { rejectUnauthorized: true }],
    ['rediss://host?sslmode=require', { rejectUnauthorized: false }],
  ])('is encrypted: %s', (url, tls) => {
    expect({ ...(optionsOf(parseRedisUrl(url)).tls as object) }).toEqual(tls);
  });

  it.each([
    ...[
      'hunter2',
      'http://:hunter2@host',
      'redis://',
      'redis://:hunter2@',
      'redis://:hunter2@a b',
      'redis://host/hunter2',
    ],
    ...[
      'redis://:hunter2@host:99999',
      'redis://:hunter2@host:port',
      'redis://:hunter2%ff@host',
      'redis://host?hunter2=1',
    ],
    ...[
      'rediss://host?sslcert=/hunter2',
      'rediss://host?sslkey=/hunter2',
      'rediss://host?sslmode=hunter2',
      'rediss://host?sslmode=verify-ca',
      'redis://host?sslrootcert=/hunter2',
    ],
    ...['redis://host?family=hunter2', 'redis://:hunter2/x@host'],
    ...['redis://:hunter2@host/2?db=3', 'redis://:hunter2@host/2?db='],
    ...['unix://', 'unix:///', 'unix://:hunter2@', 'unix://host/hunter2', 'unix:///hunter2?sslmode=require'],
    ...['unix://:1/hunter2', 'unix:/hunter2'],
    ...[
      'redis://:hunter2@host:0',
      ' redis://:hunter2@host',
      'unix:///hunter2\n',
      '/hunter2 ',
      'redis://:hunter2\t@host',
    ],
  ])('is refused with a sentence that contains nothing of it: %s', (url) => {
    const refused = () => parseRedisUrl(url);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(/^REDIS_URL must be [^\n]+\.$/);
    expect(refused).not.toThrow(/hunter2/);
  });
});
