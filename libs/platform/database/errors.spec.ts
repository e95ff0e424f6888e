import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { DomainError } from '#kernel/domain-error.js';
import { asUnavailable, isContention, isUnavailable, makesUseless, sqlState } from './errors.js';

const withCode = (code: string, message = 'some words') => Object.assign(new Error(message), { code });
const wrapped = (code: string) => new QueryFailedError('SELECT 1', [], withCode(code));

describe('Errors of the database', () => {
  it.each([
    // Connection failure, standby, too many connections, full queue of NOTIFY, no connections allowed, statement_timeout,
    // terminated, starting up, I/O, old snapshot, internal.
    ...['08006', '25006', '53300', '54000', '55000', '57014', '57P01', '57P03', '58030', '72000', 'XX000'],
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ])('with the code %s are unavailable', (code) => {
    expect(isUnavailable(withCode(code))).toBe(true);
    expect(isUnavailable(wrapped(code))).toBe(true);
    expect(isUnavailable(new AggregateError([withCode('EACCES'), withCode(code)]))).toBe(true);
  });

  it.each([
    new Error('Connection terminated unexpectedly'),
    new Error('Connection terminated due to connection timeout'),
    new Error('timeout expired'),
    new Error('timeout exceeded when trying to connect'),
    new Error('Query read timeout'),
    new Error('Client has encountered a connection error and is not queryable'),
    new Error('Cannot use a pool after calling end on the pool'),
    new QueryRunnerAlreadyReleasedError(),
    new QueryRunnerProviderAlreadyReleasedError(),
    new DomainError('unavailable', 'away'),
  ])('like "%p" are unavailable', (error) => {
    expect(isUnavailable(error)).toBe(true);
  });

  it.each([
    ['a bad value', withCode('22021')],
    ['a violated constraint', withCode('23505')],
    ['a deadlock', withCode('40P01')],
    ['a lock timeout', withCode('55P03')],
    ['a missing table', withCode('42P01')],
    ['a statement that is too complex', withCode('54001')],
    ['an object that is in use', withCode('55006')],
    ['another DomainError', new DomainError('invalid_transition', 'no')],
    ['a programming error', new TypeError('x is not a function')],
    ['several programming errors', new AggregateError([new Error('one')])],
    ['nothing', undefined],
    ['null', null],
    ['a text', 'ECONNREFUSED'],
  ])('%s is not unavailable', (_, error) => {
    expect(isUnavailable(error)).toBe(false);
    expect(asUnavailable(error)).toBe(error);
  });

  it.each([
    ['a session that was ended', { severity: 'ВАЖНО', code: '57P01' }],
    ['a password that is refused', { severity: 'ВАЖНО', code: '28P01' }],
    ['a role that may not log in', { severity: 'VÁŽNÉ', code: '28000' }],
    ['a database that was dropped', { severity: 'ВАЖНО', code: '3D000' }],
    ['a transaction that was idle for too long', { severity: '致命的エラー', code: '25P03' }],
    ['a pooler with codes of its own', { severity: 'FATAL', code: 'P0001' }],
    ['a plan of a table that has changed', { severity: 'ОШИБКА', code: '0A000', routine: 'RevalidateCachedQuery' }],
  ])('make a session useless, whatever the language of the server: %s', (_what, fields) => {
    const error = Object.assign(new Error('Текст ошибки'), fields);
    for (const one of [error, new QueryFailedError('SELECT 1', [], error)]) {
      expect([isUnavailable(one), makesUseless(one)]).toEqual([true, true]);
    }
  });

  it('leave a session as it is when something is not supported', () => {
    const error = Object.assign(new Error('not supported'), { severity: 'ERROR', code: '0A000', routine: 'transform' });
    expect([isUnavailable(error), makesUseless(error)]).toEqual([false, false]);
  });

  it('become one DomainError, with the original as its cause and none of its text', () => {
    const lost = withCode('ECONNRESET', 'read ECONNRESET at 10.0.0.7');
    const unavailable = asUnavailable(lost);
    expect(unavailable).toMatchObject({ code: 'unavailable', cause: lost });
    expect((unavailable as DomainError).message).not.toContain('10.0.0.7');
    expect(asUnavailable(unavailable)).toBe(unavailable);
  });

  it.each(['40001', '40P01', '55P03'])('with the SQLSTATE %s are contention', (code) => {
    expect(isContention(withCode(code))).toBe(true);
    expect(isContention(wrapped(code))).toBe(true);
    expect(asUnavailable(withCode(code), isContention)).toMatchObject({ code: 'unavailable' });
    for (const other of [withCode('23505'), withCode('57014'), withCode('ECONNRESET'), undefined]) {
      expect(isContention(other)).toBe(false);
    }
  });

  it('have their SQLSTATE, also when TypeORM wrapped them', () => {
    expect([withCode('55P03'), wrapped('55P03'), { driverError: withCode('55P03') }].map(sqlState)).toEqual(
      Array(3).fill('55P03'),
    );
    for (const other of [undefined, null, 'text', new Error('none'), { code: 7 }]) expect(sqlState(other)).toBe('');
  });
});
