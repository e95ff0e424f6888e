import { once } from 'node:events';
import { createServer } from 'node:net';
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

  it('is printed with its stack trace when it is a bug', () => {
    expect(startErrorMessage(new TypeError('no function'))).toMatch(/^TypeError: no function\n +at .*process\.spec/);
    expect(startErrorMessage(Object.assign(new Error('no such file'), { code: 'ENOENT' }))).toBe('no such file');
  });
});
