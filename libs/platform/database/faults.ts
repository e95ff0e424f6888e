import { DomainError } from '#kernel/domain-error.js';

interface DatabaseFault {
  readonly code?: string;
  readonly message?: string;
}

/** Socket errors of Node, and what pg says of connections without giving a code. */
const LOST = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
const LOST_WORDS =
  /connection terminated|timeout expired|timeout exceeded when trying to connect|query read timeout|not queryable|Cannot use a pool/i;

/**
 * SQLSTATE classes that say "not now" rather than "not this": 08 connection, 25006 read-only, 53 resources,
 * 57 operator intervention (shutdown, starting up, cancelled by a timeout), 58 system, XX internal.
 */
const NOT_NOW = /^(08...|25006|53...|57...|58...|XX...)$/;

/** Whether the database is away or unable, so that the same statement may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DomainError) return error.code === 'unavailable';
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const { code = '', message = '' } = (error ?? {}) as DatabaseFault;
  return NOT_NOW.test(code) || LOST.test(code) || LOST_WORDS.test(message);
}

/** The SQLSTATE of an error of PostgreSQL, also when TypeORM wrapped it; '' for anything else. */
export function sqlState(error: unknown): string {
  const { code, driverError } = (error ?? {}) as { code?: unknown; driverError?: unknown };
  if (driverError !== undefined && driverError !== error) return sqlState(driverError);
  return typeof code === 'string' ? code : '';
}

/** Whether a statement only lost against another one (a deadlock, a lock that was not to be had): it may succeed later. */
export function isContention(error: unknown): boolean {
  return /^(40001|40P01|55P03)$/.test(sqlState(error));
}

/**
 * The error itself, or DomainError `unavailable` with it as its cause.
 * @param isNotNow what says "not now" rather than "not this"
 */
export function asUnavailable(error: unknown, isNotNow = isUnavailable): unknown {
  if (error instanceof DomainError || !isNotNow(error)) return error;
  const unavailable = new DomainError('unavailable', 'The service cannot reach its store. Repeat the request later.');
  unavailable.cause = error;
  return unavailable;
}
