import { HTTP_ERRORS } from '../errors.js';
import { errorCodes, errorKind, exampleProblem, type Problem } from '../problems.js';
import { header, type HeaderSpec } from './operation.js';
import type { Route } from './routes.js';
import { enumModel, viewModel, type Model, type Schema } from './schema.js';

const COUNT = { type: 'integer', minimum: 0 };

/** The headers of every response. */
const COMMON_HEADERS: Readonly<Record<string, HeaderSpec>> = {
  'X-RateLimit-Limit': header('The limit of the window, minute or day, with the fewest remaining requests.', {
    ...COUNT,
    examples: [60],
  }),
  'X-RateLimit-Remaining': header('Requests remaining in that window.', { ...COUNT, examples: [59] }),
  'X-RateLimit-Reset': header('When that window resets, in Unix seconds. Always in the future.', {
    ...COUNT,
    examples: [1795266461],
  }),
  'RateLimit-Policy': header(
    'All windows that count this request: `q` requests per `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
    { type: 'string', examples: ['"minute";q=60;w=60, "day";q=1000;w=86400'] },
  ),
  RateLimit: header('The state of these windows: `r` requests remain for the next `t` seconds.', {
    type: 'string',
    examples: ['"minute";r=59;t=42, "day";r=812;t=30211'],
  }),
  'X-Request-Id': header(
    'The `X-Request-Id` of the request if it consists of 1 to 128 of `A-Z a-z 0-9 . _ -`, otherwise a generated id.',
    { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$', examples: ['957132b9-0870-4379-94e6-608a5ad625b5'] },
  ),
  'Cache-Control': header('Responses must not be cached.', { type: 'string', const: 'no-store' }),
  'X-Content-Type-Options': header('Disables content sniffing in browsers.', { type: 'string', const: 'nosniff' }),
};

const RETRY_AFTER = header('Seconds to wait before a retry.', { type: 'integer', minimum: 1, examples: [42] });

const WWW_AUTHENTICATE = header(
  'The authentication scheme, with `error="invalid_token"` if the request contained a key (RFC 6750).',
  { type: 'string', examples: ['Bearer realm="sluice", error="invalid_token"'] },
);

const ALLOW = header('The methods that this path supports.', {
  type: 'string',
  examples: ['GET, HEAD, POST, OPTIONS'],
});

/** Additional headers of errors, by status. */
const ERROR_HEADERS: Readonly<Record<number, Readonly<Record<string, HeaderSpec>>>> = {
  401: { 'WWW-Authenticate': WWW_AUTHENTICATE },
  405: { Allow: ALLOW },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
};

/** The headers to which responses refer by name. */
export const SHARED_HEADERS = Object.assign({}, COMMON_HEADERS, ...Object.values(ERROR_HEADERS)) as Readonly<
  Record<string, HeaderSpec>
>;

/** Errors that any request can cause. */
const COMMON_ERRORS: readonly string[] = [
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'rate_limit_exceeded',
  'api_key_banned',
  'internal_error',
  'unavailable',
];

/** Errors of every operation with a request body. */
const BODY_ERRORS: readonly string[] = [
  'invalid_json',
  'invalid_content_type',
  'validation_failed',
  'body_too_large',
  'unsupported_encoding',
];

/** All errors that a request to this route can cause. */
export function errorsOf({ access, body, spec }: Route): Set<string> {
  const hasInput = spec.query !== undefined || spec.headers !== undefined;
  return new Set<string>([
    ...COMMON_ERRORS,
    ...(access === 'public' ? [] : ['unauthorized']),
    ...(access === 'public' || access === 'operator' ? [] : ['account_suspended']),
    ...(typeof access === 'object' ? ['insufficient_scope'] : []),
    ...(body ? BODY_ERRORS : hasInput ? ['validation_failed'] : []),
    ...(spec.errors ?? []),
  ]);
}

const FIELD_ERROR = viewModel('FieldFault', 'An error in one field.', {
  pointer: {
    type: 'string',
    description: 'A JSON Pointer (RFC 6901) to the field in the body. Empty for errors outside the body.',
    examples: ['/message'],
  },
  detail: { type: 'string', description: 'What is allowed.', examples: ['message must not be empty.'] },
});

const PROBLEM_FIELDS: Readonly<Record<keyof Problem, Schema>> = {
  type: {
    type: 'string',
    format: 'uri-reference',
    description: 'A page that explains the error.',
    examples: ['/errors/validation_failed'],
  },
  title: {
    type: 'string',
    description: 'A summary of the error, the same for every occurrence of a `code`.',
    examples: [HTTP_ERRORS.validation_failed.title],
  },
  status: { type: 'integer', description: 'The HTTP status code.', examples: [400] },
  detail: {
    type: 'string',
    description: 'What caused this error and how to fix it.',
    examples: ['message must not be empty.'],
  },
  code: { type: 'string', description: 'A stable, machine-readable error code.' },
  requestId: {
    type: 'string',
    description: 'The `X-Request-Id` of the response.',
    examples: ['957132b9-0870-4379-94e6-608a5ad625b5'],
  },
  errors: { type: 'array', items: FIELD_ERROR, description: 'All errors of the request. Only with status 400.' },
};

/** Any error. */
export function problemDocument(): Model {
  const code = enumModel('ErrorCode', 'A stable, machine-readable error code.', errorCodes());
  return viewModel<Problem>(
    'Problem',
    'A problem document (RFC 9457). Programs should rely on `code`; `detail` is for people.',
    { ...PROBLEM_FIELDS, code },
    ['errors'],
  );
}

/** Names of responses whose codes together would make a long one. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  'malformed_request,validation_failed': 'InvalidParameters',
  'malformed_request,invalid_json,invalid_content_type,validation_failed': 'InvalidBody',
  'malformed_request,invalid_json,invalid_content_type,validation_failed,batch_exceeds_limit': 'InvalidBatch',
  'account_suspended,insufficient_scope': 'Forbidden',
  'account_suspended,insufficient_scope,webhooks_disabled': 'WebhooksForbidden',
  'rate_limit_exceeded,api_key_banned': 'TooManyRequests',
};

/** The name of a response with one of these errors: `MessageNotFound`. */
export function problemName(codes: readonly string[]): string {
  const name = () => codes.map((code) => code.split('_').map(capitalized).join('')).join('Or');
  return SHORT_NAMES[codes.join()] ?? name();
}

export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const problemModels = new Map<string, Model>();

/**
 * The model of a problem document with one of these errors. It repeats the fields of `Problem`, because few generators
 * of clients can narrow them in an `allOf`.
 */
function problemModel(status: number, codes: readonly string[]): Model {
  const name = `${problemName(codes)}Problem`;
  let model = problemModels.get(name);
  if (model === undefined) {
    const { errors, ...others } = PROBLEM_FIELDS;
    const fields: Readonly<Record<string, Schema>> = {
      ...others,
      status: { type: 'integer', const: status, description: 'The HTTP status code.' },
      code: { type: 'string', enum: codes, description: 'A stable, machine-readable error code.' },
      ...(status === 400 && { errors }),
    };
    model = viewModel(name, `An error with status ${status}.`, fields);
    problemModels.set(name, model);
  }
  return model;
}

/** @param content by media type; omitted for a response without a body */
export function response(
  description: string,
  headers: Readonly<Record<string, HeaderSpec>> = {},
  content?: Readonly<Record<string, object>>,
): object {
  const all = Object.entries({ ...COMMON_HEADERS, ...headers }).map(([name, spec]) => {
    return [name, SHARED_HEADERS[name] === spec ? { $ref: `#/components/headers/${name}` } : spec] as const;
  });
  return { description, headers: Object.fromEntries(all), ...(content && { content }) };
}

/**
 * The response for errors that have the same status.
 * @param details replace the example of an error, by code
 */
export function problemResponse(
  status: number,
  codes: readonly string[],
  details: Readonly<Partial<Record<string, string>>> = {},
): object {
  const schema = problemModel(status, codes);
  const descriptions = codes.map((code) => `\`${code}\`: ${errorKind(code).title}. ${details[code] ?? ''}`.trim());
  const examples = codes.map((code) => {
    return [code, { summary: errorKind(code).title, value: exampleProblem(code, details[code]) }] as const;
  });
  return response(descriptions.join('\n\n'), ERROR_HEADERS[status], {
    'application/problem+json': { schema, examples: Object.fromEntries(examples) },
  });
}

/** Responses to requests that match no route. */
export const ROUTER_RESPONSES: Readonly<Record<string, object>> = {
  NotFound: problemResponse(404, ['not_found']),
  MethodNotAllowed: problemResponse(405, ['method_not_allowed']),
  Options: response('The methods that this path supports.', { Allow: ALLOW }),
};
