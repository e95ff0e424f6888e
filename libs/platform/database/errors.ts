import { DomainError } from '#kernel/domain-error.js';
import { SOCKET_ERROR } from '../process/socket-errors.js';

/** Connection errors that pg reports without a code, and what TypeORM reports after it has released a lost connection. */
const CONNECTION_MESSAGE =
  /connection terminated|timeout expired|timeout exceeded when trying to connect|query read timeout|not queryable|Cannot use a pool|already released/i;

/**
 * SQLSTATEs of statements that may succeed later: 08 connection, 25006 read-only, 53 resources, 57 operator
 * intervention (shutdown, starting up, canceled by a timeout), 58 system, XX internal.
 */
const TRANSIENT_STATE = /^(08...|25006|53...|57...|58...|XX...)$/;

/** Whether the database cannot be reached or is temporarily unable, so that the same statement may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DomainError) return error.code === 'unavailable';
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const { code = '', message = '' } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  return TRANSIENT_STATE.test(code) || SOCKET_ERROR.test(code) || CONNECTION_MESSAGE.test(message);
}

/** The SQLSTATE of an error of PostgreSQL, also when TypeORM wrapped it; '' for anything else. */
export function sqlState(error: unknown): string {
  const { code, driverError } = (error ?? {}) as { code?: unknown; driverError?: unknown };
  if (driverError !== undefined && driverError !== error) return sqlState(driverError);
  return typeof code === 'string' ? code : '';
}

/** Whether a statement lost to a concurrent one (deadlock, lock timeout) and may succeed later. */
export function isContention(error: unknown): boolean {
  return /^(40001|40P01|55P03)$/.test(sqlState(error));
}

/**
 * The error itself, or DomainError `unavailable` with it as its cause.
 * @param isTransient whether the same statement may succeed later
 */
export function asUnavailable(error: unknown, isTransient = isUnavailable): unknown {
  if (error instanceof DomainError || !isTransient(error)) return error;
  const unavailable = new DomainError('unavailable', 'The service cannot reach its database. Retry later.');
  unavailable.cause = error;
  return unavailable;
}
