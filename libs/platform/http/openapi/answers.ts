import type { ErrorCode } from '#kernel/domain-error.js';
import { exampleProblem, PROBLEMS, type Problem } from '../problems.js';
import type { HeaderSpec } from './operation.js';
import { viewModel } from './schema.js';

const COUNT = { type: 'integer', minimum: 0 };

/** Headers that every answer has, whoever made it. */
export const EVERY_ANSWER: Readonly<Record<string, HeaderSpec>> = {
  'X-RateLimit-Limit': {
    description: 'The limit in force: that of the window, minute or day, with fewer requests remaining.',
    schema: { ...COUNT, examples: [60] },
    required: true,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests that remain in that window.',
    schema: { ...COUNT, examples: [59] },
    required: true,
  },
  'X-RateLimit-Reset': {
    description: 'When that window resets: Unix time in seconds, always in the future.',
    schema: { ...COUNT, examples: [1795266461] },
    required: true,
  },
  'RateLimit-Policy': {
    description:
      'All windows that count the request: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string', examples: ['"minute";q=60;w=60, "day";q=1000;w=86400'] },
    required: true,
  },
  RateLimit: {
    description: 'What is left of them: `r` requests for `t` more seconds.',
    schema: { type: 'string', examples: ['"minute";r=59;t=42, "day";r=812;t=30211'] },
    required: true,
  },
  'X-Request-Id': {
    description: "The caller's own `X-Request-Id` if it is 1 to 128 of `A-Z a-z 0-9 . _ -`, else a new one.",
    schema: {
      type: 'string',
      pattern: '^[A-Za-z0-9._-]{1,128}$',
      examples: ['957132b9-0870-4379-94e6-608a5ad625b5'],
    },
    required: true,
  },
  'Cache-Control': {
    description: 'Answers are for their caller alone.',
    schema: { type: 'string', const: 'no-store' },
    required: true,
  },
  'X-Content-Type-Options': {
    description: 'The media type is as it is said.',
    schema: { type: 'string', const: 'nosniff' },
    required: true,
  },
};

const RETRY_AFTER: HeaderSpec = {
  description: 'Whole seconds after which a repetition may pass.',
  schema: { type: 'integer', minimum: 1, examples: [42] },
  required: true,
};

const WWW_AUTHENTICATE: HeaderSpec = {
  description: 'The scheme to use, and `error="invalid_token"` where a key was presented (RFC 6750).',
  schema: { type: 'string', examples: ['Bearer realm="sluice", error="invalid_token"'] },
  required: true,
};

const ALLOW: HeaderSpec = {
  description: 'The methods of this path.',
  schema: { type: 'string', examples: ['GET, HEAD, POST, OPTIONS'] },
  required: true,
};

const MEDIA_TYPE = 'application/problem+json';

/** Headers of errors, beyond those of every answer. */
const OF_STATUS: Readonly<Record<number, Readonly<Record<string, HeaderSpec>>>> = {
  401: { 'WWW-Authenticate': WWW_AUTHENTICATE },
  405: { Allow: ALLOW },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
};

/** Errors that any request can meet, before or while a route looks at it. */
export const EVERYWHERE: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'rate_limit_exceeded',
  'api_key_banned',
  'internal_error',
  'unavailable',
];

/** Errors of whatever reads a body. */
export const OF_BODIES: readonly ErrorCode[] = [
  'invalid_json',
  'invalid_content_type',
  'validation_failed',
  'body_too_large',
  'unsupported_encoding',
];

const FIELD_FAULT = viewModel('FieldFault', 'What is wrong with one field.', {
  pointer: {
    type: 'string',
    description: 'Where it is: a JSON Pointer (RFC 6901) into the body. Empty for what is not a field of the body.',
    examples: ['/message'],
  },
  detail: { type: 'string', description: 'What is allowed there.', examples: ['message must not be empty.'] },
});

const PROBLEM = viewModel<Required<Problem>>(
  'Problem',
  'A problem document (RFC 9457). Programs go by `code`, people by `detail`.',
  {
    type: {
      type: 'string',
      format: 'uri-reference',
      description: 'A page that explains the error.',
      examples: ['/errors/validation_failed'],
    },
    title: {
      type: 'string',
      description: 'What kind of error it is; the same for each `code`.',
      examples: ['The request has invalid fields'],
    },
    status: { type: 'integer', description: 'The HTTP status.', examples: [400] },
    detail: {
      type: 'string',
      description: 'A sentence that says what to do.',
      examples: ['message must not be empty.'],
    },
    code: { type: 'string', enum: Object.keys(PROBLEMS), description: 'Stable and made for programs.' },
    requestId: {
      type: 'string',
      description: 'The `X-Request-Id` of the answer.',
      examples: ['957132b9-0870-4379-94e6-608a5ad625b5'],
    },
    errors: { type: 'array', items: FIELD_FAULT, description: 'With status 400: each fault.' },
  },
  ['errors'],
);

/** An answer as the document has it. */
export interface AnswerSpec {
  readonly description: string;
  readonly headers: Readonly<Record<string, HeaderSpec>>;
  /** By media type; empty where there is no body. */
  readonly content: Readonly<Record<string, object>>;
}

/**
 * The answer to which errors with one status lead.
 * @param codes of this status
 * @param details what is said instead of the ordinary example, by code
 */
export function problemAnswer(
  status: number,
  codes: readonly ErrorCode[],
  details: Readonly<Partial<Record<ErrorCode, string>>> = {},
): AnswerSpec {
  const told = { status: { const: status }, code: { enum: codes } };
  const schema = { allOf: [PROBLEM, { properties: told, ...(status === 400 ? { required: ['errors'] } : {}) }] };
  const examples = codes.map((code) => {
    const { title: summary } = PROBLEMS[code];
    return [code, { summary, value: exampleProblem(code, details[code]) }] as const;
  });
  return {
    description: codes
      .map((code) => `\`${code}\`: ${PROBLEMS[code].title}. ${details[code] ?? ''}`.trim())
      .join('\n\n'),
    headers: OF_STATUS[status] ?? {},
    content: { [MEDIA_TYPE]: { schema, examples: Object.fromEntries(examples) } },
  };
}

/** What is answered where no route is, to an unknown method, and to OPTIONS. */
export const OF_THE_ROUTER: Readonly<Record<string, AnswerSpec>> = {
  UnknownPath: problemAnswer(404, ['not_found']),
  UnknownMethod: problemAnswer(405, ['method_not_allowed']),
  Options: { description: 'The methods of this path.', headers: { Allow: ALLOW }, content: {} },
};
