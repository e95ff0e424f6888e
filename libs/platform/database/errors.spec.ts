import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { DomainError } from '#kernel/domain-error.js';
import { asUnavailable, isContention, isUnavailable, sqlState } from './errors.js';

const withCode = (code: string, message = 'some words') => Object.assign(new Error(message), { code });

describe('Errors of the database', () => {
  it.each([
    ['08006', 'connection failure'],
    ['25006', 'read-only transaction: a standby'],
    ['53300', 'too many connections'],
    ['57014', 'cancelled by statement_timeout'],
    ['57P01', 'terminated by an administrator'],
    ['57P03', 'starting up'],
    ['58030', 'I/O error'],
    ['XX000', 'internal error'],
  ])('SQLSTATE %s (%s) is unavailable', (code) => {
    expect(isUnavailable(withCode(code))).toBe(true);
  });

  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENOTFOUND',
    'EAI_AGAIN',
  ])('%s is unavailable', (code) => {
    expect(isUnavailable(withCode(code))).toBe(true);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout expired',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
    'Cannot use a pool after calling end on the pool',
    new QueryRunnerAlreadyReleasedError().message,
    new QueryRunnerProviderAlreadyReleasedError().message,
  ])('"%s" is unavailable', (message) => {
    expect(isUnavailable(new Error(message))).toBe(true);
  });

  it('are recognised when they are wrapped', () => {
    expect(isUnavailable(new AggregateError([withCode('EACCES'), withCode('ECONNREFUSED')]))).toBe(true);
    expect(isUnavailable(new QueryFailedError('SELECT 1', [], withCode('57P01')))).toBe(true);
    expect(isUnavailable(new DomainError('unavailable', 'away'))).toBe(true);
  });

  it.each([
    ['a bad value', withCode('22021')],
    ['a broken constraint', withCode('23505')],
    ['a deadlock', withCode('40P01')],
    ['a lock that was not to be had', withCode('55P03')],
    ['a missing table', withCode('42P01')],
    ['a wrong password', withCode('28P01')],
    ['another rule', new DomainError('invalid_transition', 'no')],
    ['an error of a program', new TypeError('x is not a function')],
    ['several errors of a program', new AggregateError([new Error('one')])],
    ['nothing', undefined],
    ['null', null],
    ['a text', 'ECONNREFUSED'],
  ])('%s is not', (_, error) => {
    expect(isUnavailable(error)).toBe(false);
    expect(asUnavailable(error)).toBe(error);
  });

  it('become one DomainError, with the original as its cause and none of its text', () => {
    const lost = withCode('ECONNRESET', 'read ECONNRESET at 10.0.0.7');
    const unavailable = asUnavailable(lost);
    expect(unavailable).toBeInstanceOf(DomainError);
    expect(unavailable).toMatchObject({ code: 'unavailable', cause: lost });
    expect((unavailable as DomainError).message).not.toContain('10.0.0.7');
    expect(asUnavailable(unavailable)).toBe(unavailable);
  });

  it.each(['40001', '40P01', '55P03'])('SQLSTATE %s is contention', (code) => {
    expect(isContention(withCode(code))).toBe(true);
    expect(isContention(new QueryFailedError('SELECT 1', [], withCode(code)))).toBe(true);
    expect(asUnavailable(withCode(code), isContention)).toMatchObject({ code: 'unavailable' });
  });

  it.each([withCode('23505'), withCode('57014'), withCode('ECONNRESET'), undefined])('%p is not', (error) => {
    expect(isContention(error)).toBe(false);
  });

  it('have their SQLSTATE, also when TypeORM wrapped them', () => {
    expect(sqlState(withCode('55P03'))).toBe('55P03');
    expect(sqlState(new QueryFailedError('SELECT 1', [], withCode('55P03')))).toBe('55P03');
    expect(sqlState({ driverError: withCode('23505') })).toBe('23505');
    for (const other of [undefined, null, 'text', new Error('none'), { code: 7 }]) expect(sqlState(other)).toBe('');
  });
});
