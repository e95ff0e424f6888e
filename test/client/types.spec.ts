import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RateLimitError, SluiceError, type Sluice } from '#client/index.js';
import { ROOT } from '../support/processes.js';

it('The types of the client are those of the OpenAPI document', async () => {
  const args = [join(ROOT, 'scripts/client-types.mjs'), '--check', process.env.TEST_OPENAPI ?? ''];
  await promisify(execFile)(process.execPath, args);
});

it('The source of the client needs neither Node.js nor anything else but a browser', async () => {
  const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--project', join(ROOT, 'libs/client')];
  await promisify(execFile)(process.execPath, args);
});

describe('An error code', () => {
  // The compiler checks that all are there.
  const meaningOf = ({ code }: RateLimitError): string => {
    switch (code) {
      case 'rate_limit_exceeded':
        return 'limit';
      case 'api_key_banned':
        return 'ban';
      case 'unexpected_response':
        return 'proxy';
    }
  };

  it.each([
    ['rate_limit_exceeded', 'limit'],
    ['api_key_banned', 'ban'],
  ])('is one of its family: %s', (code, meaning) => {
    expect(meaningOf(new RateLimitError({ message: '', code, status: 429 }))).toBe(meaning);
  });

  it('that does not exist is an error of the compiler', () => {
    const caught: unknown = new SluiceError({ message: '', code: 'storage_full', status: 507 });
    if (!(caught instanceof SluiceError)) throw new Error('It is none.');
    // @ts-expect-error: misspelled
    expect(caught.code === 'storage_ful').toBe(false);
    expect(caught.code === 'storage_full').toBe(true);
  });
});

it('Optional fields of what a caller passes may be undefined', () => {
  const calls = [
    (sluice: Sluice) => sluice.account.keys.rotate('key_1', { graceSeconds: undefined }),
    (sluice: Sluice) => sluice.account.keys.create({ name: 'x', scopes: undefined, expiresAt: undefined }),
    (sluice: Sluice) => sluice.messages.sendBatch([{ message: 'hello', deliverAt: undefined }]),
  ];
  expect(calls).toBeDefined();
});
