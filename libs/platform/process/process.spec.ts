import { once } from 'node:events';
import { createServer } from 'node:net';
import { DomainError } from '#kernel/domain-error.js';
import { startErrorMessage } from './process.js';

describe('What keeps a process from starting', () => {
  it.each([
    ['an unknown name', 'nowhere.invalid'],
    ['an address of another machine', '192.0.2.1'],
  ])('names HOST when it is %s', async (_what, host) => {
    const [error] = (await once(createServer().listen(0, host), 'error').catch((thrown: unknown) => [thrown])) as [
      Error,
    ];
    expect(startErrorMessage(error)).toBe(`HOST must be an address of this machine; it is "${host}".`);
  });

  it.each([
    [
      "ERR unknown command 'eval', with args beginning with: 'return 1' '1' 'key' ",
      "ERR unknown command 'eval': it was renamed or disabled",
    ],
    ['NOPERM no permissions.', 'NOPERM no permissions'],
    ["Stream isn't writeable and enableOfflineQueue options is false", undefined],
  ])('is one sentence when Redis, or its client, says "%s"', (message, said = message) => {
    const error = Object.assign(new Error(message), { name: 'ReplyError' });
    const unavailable = Object.assign(new DomainError('unavailable', 'away'), { cause: error });
    for (const one of [error, unavailable])
      expect(startErrorMessage(one)).toBe(`The Redis server at REDIS_URL cannot be used: ${said}.`);
  });

  it('is printed with its stack trace when it is a bug', () => {
    expect(startErrorMessage(new TypeError('no function'))).toMatch(/^TypeError: no function\n +at .*process\.spec/);
    expect(startErrorMessage(Object.assign(new Error('no such file'), { code: 'ENOENT' }))).toBe('no such file');
  });
});
