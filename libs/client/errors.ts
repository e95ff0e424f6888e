import type { ErrorCode, ErrorCodes, Problem } from './types.js';

/** The codes of errors that no problem document describes: there was no response, or it is not one of Sluice. */
export type LocalErrorCode = 'connection_failed' | 'timed_out' | Unexpected;

type Unexpected = 'unexpected_response';

/** What an error is made of. */
interface ErrorDetails {
  readonly message: string;
  readonly code: string;
  readonly status?: number | null;
  readonly requestId?: string | null | undefined;
  readonly retryAfter?: number | null;
  readonly problem?: Problem | null;
  readonly cause?: unknown;
}

/**
 * A request failed. `code` is stable and made for programs; the message is for people. There is a subclass for each family
 * of errors, by which the codes are narrowed.
 */
export class SluiceError extends Error {
  override name = 'SluiceError';
  /** A server that is newer than this client may send a code that is not in the type. */
  readonly code: ErrorCode | LocalErrorCode;
  /** The HTTP status; null if there was no response. */
  readonly status: number | null;
  /** Names the request in the server's log; null if there was no response. */
  readonly requestId: string | null;
  /** The seconds after which a repeated request can succeed, if the server said so. */
  readonly retryAfter: number | null;
  /** The body of the response; null if it was not a problem document. */
  readonly problem: Problem | null;

  constructor({ message, code, status, requestId, retryAfter, problem, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code as ErrorCode;
    this.status = status ?? null;
    this.requestId = requestId ?? null;
    this.retryAfter = retryAfter ?? null;
    this.problem = problem ?? null;
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    const { status, code } = this;
    if (status === null || status === 408 || status === 429) return true;
    if (code === 'idempotency_key_in_use') return true;
    // A success that could not be read is an unknown outcome like a broken connection, and so is a change of protocol.
    return status < 300 || (status >= 500 && status !== 507);
  }
}

/** There was no complete response: whether the server has processed the request is unknown. */
export class ConnectionError extends SluiceError {
  override name = 'ConnectionError';
  declare readonly code: 'connection_failed' | 'timed_out';
}

/** The request is invalid: status 400, or another one that has no class of its own. `problem.errors` names the fields. */
export class InvalidRequestError extends SluiceError {
  override name = 'InvalidRequestError';
  declare readonly code: ErrorCodes[400 | 405 | 408 | 413 | 415 | 431] | Unexpected;
}

/** The API key is missing, unknown, expired or revoked. */
export class AuthenticationError extends SluiceError {
  override name = 'AuthenticationError';
  declare readonly code: ErrorCodes[401] | Unexpected;
}

/** The API key or its account may not do this. */
export class PermissionError extends SluiceError {
  override name = 'PermissionError';
  declare readonly code: ErrorCodes[403] | Unexpected;
}

/** What the request names does not exist. */
export class NotFoundError extends SluiceError {
  override name = 'NotFoundError';
  declare readonly code: ErrorCodes[404] | Unexpected;
}

/** The state of what the request names does not allow it. */
export class ConflictError extends SluiceError {
  override name = 'ConflictError';
  declare readonly code: ErrorCodes[409 | 412 | 422] | Unexpected;
}

/** A limit of the plan is used up, or the key is banned. `retryAfter` says for how long. */
export class RateLimitError extends SluiceError {
  override name = 'RateLimitError';
  declare readonly code: ErrorCodes[429] | Unexpected;
}

/** The server failed, or a proxy before it: but for `storage_full`, whether it has processed the request is unknown. */
export class ServerError extends SluiceError {
  override name = 'ServerError';
  declare readonly code: ErrorCodes[500 | 503 | 507] | Unexpected;
}

const CLASSES: Readonly<Record<number, new (details: ErrorDetails) => SluiceError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  422: ConflictError,
  429: RateLimitError,
};

/** What a response that is not from Sluice leaves open, except of a GET. */
export const DOUBT = ' The outcome is unknown.';

/** The error for a response of success that is not from Sluice. */
export function unexpected(fault: string, status: number, cause?: unknown): ServerError {
  const message = `The response has the status ${status}, but ${fault}`;
  return new ServerError({ message, code: 'unexpected_response', status, cause });
}

/** The error that a response stands for. */
export function errorOf(response: Response, body: string, method: string): SluiceError {
  const { status, headers } = response;
  const problem = problemIn(body);
  const Class = CLASSES[status] ?? (status >= 400 && status < 500 ? InvalidRequestError : ServerError);
  return new Class({
    message:
      problem?.detail ??
      `The response has the status ${status} and is not from Sluice: check baseUrl (https?) and proxies.${
        status < 500 || method === 'GET' ? '' : DOUBT
      }`,
    code: problem?.code ?? 'unexpected_response',
    status,
    requestId: headers.get('x-request-id') ?? problem?.requestId,
    retryAfter: secondsUntil(headers.get('retry-after')),
    problem,
  });
}

/** Proxies answer with pages of their own, and with problem documents whose members have other types. */
function problemIn(body: string): Problem | null {
  try {
    const { errors, ...others } = JSON.parse(body) as Record<keyof Problem, unknown>;
    if (typeof others.code !== 'string' || typeof others.detail !== 'string') return null;
    return {
      ...others,
      ...(Array.isArray(errors) && { errors: (errors as unknown[]).filter(isFieldFault) }),
    } as Problem;
  } catch {
    return null;
  }
}

function isFieldFault(fault: unknown): boolean {
  const { pointer, detail } = Object(fault) as Record<string, unknown>;
  return typeof pointer === 'string' && typeof detail === 'string';
}

/** `Retry-After` has seconds or a date. */
function secondsUntil(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  // `Date.parse` reads more than dates: "-5", and "soon, in 2099".
  const isDate = /^\w{3,9},? .*:\d\d (GMT|\d{4})$/.test(retryAfter);
  // All dates of HTTP are in UTC; one of its old forms does not say so.
  const at = isDate ? Date.parse(retryAfter.replace(/( GMT)?$/, ' GMT')) : NaN;
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : Math.ceil((at - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
