import { DomainError } from '#kernel/domain-error.js';
import { isSocketError } from '../process/socket-errors.js';
import { TLS_ERROR } from '../process/tls-files.js';

/** Connection errors that pg reports without a code, and what TypeORM reports after it has released a lost connection. */
const CONNECTION_MESSAGE =
  /connection terminated|timeout expired|timeout exceeded when trying to connect|query read timeout|not queryable|Cannot use a pool|already released|support SSL|an SSL connection|^SASL|invalid response/i;

/**
 * SQLSTATEs of statements that may succeed later: 08 connection, 25006 read-only, 25P a timeout of the session, 26000 a
 * statement that the session has forgotten, 28 and 3D000 a session that was refused, 42501 rights that were withdrawn, 53
 * resources, 54000 a limit of the server (the queue of NOTIFY is full, no transaction ids are left), 55000 a database that
 * accepts no connections, 57 operator intervention (shutdown, starting up, canceled by a timeout), 58 system, 72000 a
 * snapshot that is too old, XX internal. 54000 is also what a row is that is too large, which the limits of messages exclude.
 *
 * Texts, and the severity that pg reads, are in the language of `lc_messages`, which only a superuser can set.
 */
const TRANSIENT_STATE = /^(08...|25006|25P..|26000|28...|3D000|42501|53...|54000|55000|57...|58...|72000|XX...)$/;

/** Errors after which a session stays as it is, while a new one may work. */
const USELESS_STATE = /^(08...|25006|25P..|26000|28...|3D000|42501|57P..|58...|XX...)$/;

/** Whether the database cannot be reached or is temporarily unable, so that the same statement may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DomainError) return error.code === 'unavailable';
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const { code = '', message = '' } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  if (TRANSIENT_STATE.test(code) || TLS_ERROR.test(code) || isSocketError(error)) return true;
  return CONNECTION_MESSAGE.test(message) || isFatal(error) || isStalePlan(error);
}

/** Whether the server has ended the session, or refused to open one. */
function isFatal(error: unknown): boolean {
  return /^(FATAL|PANIC)$/.test((error as { readonly severity?: string } | null)?.severity ?? '');
}

/** Whether the session that returned this error should not be used any more. */
export function makesUseless(error: unknown): boolean {
  return USELESS_STATE.test(sqlState(error)) || isFatal(error) || isStale(error);
}

/** Whether the server accepts no writes in the session. */
export function isNotWritable(error: unknown): boolean {
  return sqlState(error) === '25006';
}

/** Whether the statement did not begin, because of the session and not because of itself. */
export function isStale(error: unknown): boolean {
  return isNotWritable(error) || sqlState(error) === '26000' || isStalePlan(error);
}

/** Whether a table has changed under the plan of a prepared statement. */
function isStalePlan(error: unknown): boolean {
  const { driverError = error } = (error ?? {}) as { readonly driverError?: unknown };
  const { code, routine } = (driverError ?? {}) as { readonly code?: string; readonly routine?: string };
  return code === '0A000' && routine === 'RevalidateCachedQuery';
}

/** The SQLSTATE of an error of PostgreSQL, also when TypeORM wrapped it; '' for anything else. */
export function sqlState(error: unknown): string {
  const { code, driverError } = (error ?? {}) as { code?: unknown; driverError?: unknown };
  if (driverError !== undefined && driverError !== error) return sqlState(driverError);
  return typeof code === 'string' ? code : '';
}

/** The SQLSTATE of a statement that would leave a reference to a row that does not exist. */
export const FOREIGN_KEY_VIOLATION = '23503';

/** Whether a statement lost to a concurrent one (deadlock, lock timeout) and may succeed later. */
export function isContention(error: unknown): boolean {
  return /^(40001|40P01|55P03)$/.test(sqlState(error));
}

/** Whether a table, a column or a function is gone, or has another name, which only an operator can change back. */
export function isMissing(error: unknown): boolean {
  return /^(42P01|42703|42883)$/.test(sqlState(error));
}

/**
 * The error itself, or DomainError `unavailable` with it as its cause.
 * @param isTransient whether the same statement may succeed later
 * @param why a sentence
 */
export function asUnavailable(
  error: unknown,
  isTransient = isUnavailable,
  why = 'The service cannot reach its database.',
): unknown {
  if (error instanceof DomainError || !isTransient(error)) return error;
  const unavailable = new DomainError('unavailable', `${why} Retry later.`);
  unavailable.cause = error;
  return unavailable;
}
