import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from '#client/index.js';
import { report } from './errors.js';
import { CliError, EXIT } from './exit-codes.js';
import { Output } from './output.js';

const details = { message: 'It failed.', requestId: 'the-request' };
const strange = { message: 'It is not from Sluice.', code: 'unexpected_response' };

describe('A failed command', () => {
  let err = '';
  beforeEach(() => {
    err = '';
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  });
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['an unknown key', new AuthenticationError({ ...details, code: 'unauthorized', status: 401 }), EXIT.refused],
    ['a missing scope', new PermissionError({ ...details, code: 'insufficient_scope', status: 403 }), EXIT.refused],
    ['a proxy that wants a password', new AuthenticationError({ ...strange, status: 401 }), EXIT.failed],
    ['a wall', new PermissionError({ ...strange, status: 403 }), EXIT.failed],
    ['no key', new CliError('You have no key.', EXIT.refused), EXIT.refused],
    ['a limit', new RateLimitError({ ...details, code: 'rate_limit_exceeded', status: 429 }), EXIT.limited],
    ['a full storage', new ServerError({ ...details, code: 'storage_full', status: 507 }), EXIT.limited],
    ['no response', new ConnectionError({ ...details, code: 'connection_failed' }), EXIT.unavailable],
    ['an outage', new ServerError({ ...details, code: 'unavailable', status: 503 }), EXIT.unavailable],
    ['an internal error', new ServerError({ ...details, code: 'internal_error', status: 500 }), EXIT.unavailable],
    ['an unknown id', new NotFoundError({ ...details, code: 'message_not_found', status: 404 }), EXIT.failed],
    ['a conflict', new ConflictError({ ...details, code: 'invalid_transition', status: 409 }), EXIT.failed],
    ['a fault of the program', new TypeError('x is not a function'), EXIT.failed],
  ])('ends with the exit code of its kind, as text and as JSON: %s', (_what, error, exitCode) => {
    expect(report(error, new Output(false))).toBe(exitCode);
    expect(err).toMatch(/^error: .+\n$/);
    expect(err).not.toContain(' at ');
    err = '';
    expect(report(error, new Output(true))).toBe(exitCode);
    expect(JSON.parse(err)).toMatchObject({ error: { message: error.message } });
  });

  it.each([
    "Cannot read properties of undefined (reading 'x')",
    "Cannot destructure property 'id' of 'object null' as it is null.",
    'page.data is not iterable',
    'x is not async iterable',
  ])('says that a response lacks something for: %s', (message) => {
    report(new TypeError(message), new Output(false));
    expect(err).toMatch(/^error: The response lacks what this command shows: .+\n$/);
  });

  it.each([
    ['POST /messages failed: other side closed', 'connection_failed', 'UND_ERR_SOCKET', true],
    ['DELETE /api-keys/key_1 failed: read ECONNRESET', 'connection_failed', 'ECONNRESET', true],
    ['POST /messages had no complete response after 30000 ms.', 'timed_out', undefined, true],
    ['POST /messages failed: connect ECONNREFUSED', 'connection_failed', 'ECONNREFUSED', false],
    ['GET /messages failed: other side closed', 'connection_failed', 'UND_ERR_SOCKET', false],
    ['GET /messages had no complete response after 30000 ms.', 'timed_out', undefined, false],
  ] as const)('says whether something may have been done: %s (%s)', (message, code, reason, isUnknown) => {
    const cause = Object.assign(new Error('It failed.'), { code: reason });
    report(new ConnectionError({ message, code, cause }), new Output(false));
    expect(err.includes('The outcome is unknown.')).toBe(isUnknown);
  });

  it('takes no answer of another service for that of Sluice', () => {
    report(new AuthenticationError({ ...strange, status: 401 }), new Output(false));
    expect(err).toBe('error: It is not from Sluice. (unexpected_response)\n');
  });

  it('ends each sentence', () => {
    report(
      new ConnectionError({ message: 'GET / failed: fetch failed', code: 'connection_failed' }),
      new Output(false),
    );
    expect(err).toMatch(/^error: GET \/ failed: fetch failed\. Is this/);
  });

  it('names the item that has failed', () => {
    report(new CliError('No.'), new Output(false), 'msg_1');
    report(new CliError('No.'), new Output(true), 'msg_1');
    expect(err).toBe('error: msg_1: No.\n{"error":{"message":"No.","id":"msg_1"}}\n');
  });

  it('escapes the text of the service', () => {
    const hostile = { ...details, message: '\u001b[2J', code: 'not_found', status: 404 };
    report(new NotFoundError(hostile), new Output(false));
    expect(err).not.toContain('\u001b');
  });
});
