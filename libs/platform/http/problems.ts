import { DomainError, RetryLaterError, ValidationError, type FieldError } from '#kernel/domain-error.js';
import { HTTP_ERRORS, type ErrorKind, type ErrorTable } from './errors.js';

const kinds = new Map<string, ErrorKind>(Object.entries(HTTP_ERRORS));

/**
 * Adds the errors of contexts to the errors of HTTP. Call it before the first request is served.
 * @throws Error when two tables describe the same code differently
 */
export function addErrors(...tables: readonly ErrorTable[]): void {
  for (const [code, kind] of tables.flatMap((table) => Object.entries(table))) {
    if ((kinds.get(code) ?? kind) !== kind) throw new Error(`Two tables describe the error ${code}.`);
    kinds.set(code, kind);
  }
}

/** All error codes, in alphabetical order. */
export function errorCodes(): string[] {
  return [...kinds.keys()].sort();
}

/** @returns undefined for an unknown code */
export function findErrorKind(code: string): ErrorKind | undefined {
  return kinds.get(code);
}

/** A code without a description is a bug, which a test finds. Its status is 500 until then. */
export function errorKind(code: string): ErrorKind {
  return kinds.get(code) ?? HTTP_ERRORS.internal_error;
}

/** Seconds to wait before a retry when no better estimate exists. */
export const UNAVAILABLE_RETRY_AFTER = 1;

/** A problem document (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function toProblem(error: DomainError, requestId: string): Problem {
  const { status, title } = errorKind(error.code);
  const problem = { type: `/errors/${error.code}`, title, status, detail: error.message, code: error.code, requestId };
  if (error instanceof ValidationError) return { ...problem, errors: error.errors };
  return status === 400 ? { ...problem, errors: [{ pointer: '', detail: error.message }] } : problem;
}

/** Additional headers of an error response. @param authorization the header of the request */
export function problemHeaders(error: DomainError, authorization: string | undefined): Record<string, string> {
  if (error instanceof RetryLaterError) return { 'retry-after': String(error.retryAfter) };
  if (error.code === 'unavailable') return { 'retry-after': String(UNAVAILABLE_RETRY_AFTER) };
  if (error.code !== 'unauthorized') return {};
  // RFC 6750, 3.1: `error` is present only if the request contained a token.
  const invalid = /^bearer\s+\S/i.test(authorization ?? '') ? ', error="invalid_token"' : '';
  return { 'www-authenticate': `Bearer realm="sluice"${invalid}` };
}

/** A typical problem document with this code. */
export function exampleProblem(code: string, detail = errorKind(code).example): Problem {
  const error =
    code === 'validation_failed'
      ? new ValidationError([{ pointer: '/message', detail }])
      : new DomainError(code, detail);
  return toProblem(error, '273a6947-5a3c-42e0-814d-47b3cc9e0321');
}
