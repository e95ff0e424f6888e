import { NotFoundException, type ArgumentsHost } from '@nestjs/common';
import { DomainError, RetryLaterError, ValidationError } from '#kernel/domain-error.js';
import { createLogger } from '../observability/logging.js';
import { ProblemFilter } from './problem.filter.js';
import type { Problem } from './problems.js';

/** What no response may show. */
const SECRET = 'slc_secret in SELECT * FROM things at 10.0.0.7';

interface Handled {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly problem: Problem;
  readonly log: readonly { readonly level: number; readonly requestId: string; readonly err?: { message: string } }[];
}

function handle(thrown: unknown): Handled {
  const lines: string[] = [];
  const headers: Record<string, string> = {};
  let status = 0;
  let body = '';
  const reply = {
    status: (code: number) => ((status = code), reply),
    headers: (more: Record<string, string>) => (Object.assign(headers, more), reply),
    header: (name: string, value: string) => ((headers[name] = value), reply),
    send: (text: string) => (body = text),
  };
  const http = { getRequest: () => ({ id: 'the-request', headers: {} }), getResponse: () => reply };
  const logger = createLogger('info', 'spec', { write: (line) => lines.push(line) });
  new ProblemFilter(logger).catch(thrown, { switchToHttp: () => http } as unknown as ArgumentsHost);
  const log = lines.map((line) => JSON.parse(line) as Handled['log'][number]);
  return { status, headers, body, problem: JSON.parse(body) as Problem, log };
}

const withCode = (code: string) => Object.assign(new Error(SECRET), { code });
/** As TypeORM wraps it. */
const statementFailed = (code: string) =>
  Object.assign(withCode(code), { driverError: withCode(code), query: SECRET, parameters: [SECRET] });

const [WARN, ERROR] = [40, 50];

describe('An error becomes a problem document', () => {
  it.each([
    ['a fault of the program', new TypeError(SECRET), 500, 'internal_error', ERROR],
    ['what is no error', SECRET, 500, 'internal_error', ERROR],
    ['nothing', undefined, 500, 'internal_error', ERROR],
    ['a violated constraint', statementFailed('23505'), 500, 'internal_error', ERROR],
    ['a lost connection', withCode('ECONNRESET'), 503, 'unavailable', WARN],
    ['a statement that took too long', statementFailed('57014'), 503, 'unavailable', WARN],
    ['a deadlock', statementFailed('40P01'), 503, 'unavailable', WARN],
    ['a lock that was held for too long', withCode('55P03'), 503, 'unavailable', WARN],
    ['a table that is gone', statementFailed('42P01'), 503, 'unavailable', WARN],
    ['a column that has another name', withCode('42703'), 503, 'unavailable', WARN],
    ['a function that is gone', statementFailed('42883'), 503, 'unavailable', WARN],
    ['a path without a route', new NotFoundException(SECRET), 404, 'not_found', null],
  ])('that reveals nothing, and is logged if it is a fault: %s', (_what, thrown, status, code, level) => {
    const { body, problem, log, ...handled } = handle(thrown);
    expect([handled.status, problem.status, problem.code, problem.requestId]).toEqual([
      ...[status, status, code],
      'the-request',
    ]);
    expect(body).not.toMatch(/slc_|SELECT|10\.0\.0|stack|spec\.ts/);
    expect(log.map((line) => [line.level, line.requestId])).toEqual(level === null ? [] : [[level, 'the-request']]);
    if (thrown instanceof Error && level !== null) expect(log[0]?.err?.message).toContain(SECRET);
  });

  it.each([
    ['of a client', new DomainError('invalid_json', 'Broken.'), 400, undefined],
    ['of a field', new ValidationError([{ pointer: '/name', detail: 'Missing.' }]), 400, undefined],
    ['of a limit', new RetryLaterError('rate_limit_exceeded', 'Wait.', 42), 429, '42'],
    ['of an outage', new DomainError('unavailable', 'Away.'), 503, '1'],
  ])('with its own sentence, and when to retry: %s', (_what, error, status, retryAfter) => {
    const { headers, problem } = handle(error);
    expect([problem.status, problem.detail, headers['retry-after']]).toEqual([status, error.message, retryAfter]);
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
  });
});
