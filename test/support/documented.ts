import { readFileSync } from 'node:fs';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The parts of an OpenAPI document that tests go by. */
export interface DocumentedAnswer {
  readonly description: string;
  readonly headers: Readonly<Record<string, { required?: boolean; schema?: object; $ref?: string }>>;
  readonly content?: Readonly<
    Record<string, { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> }>
  >;
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly schema: { readonly enum?: readonly unknown[] } }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: unknown } } };
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, { required: boolean; schema: object }>>;
    readonly responses: Readonly<Record<string, DocumentedAnswer>>;
  };
}

/** What was asked; undefined where it could not be read as a request. */
export interface Asked {
  readonly method: string;
  readonly target: string;
}

export interface Answered {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** Headers of HTTP itself and of browsers' rules for other origins, which no document tells of. */
const OF_HTTP = /^(connection|content-length|content-type|date|keep-alive|transfer-encoding|vary|access-control-.*)$/;

/** Errors of what the HTTP parser refuses, whatever route was meant. */
const UNREADABLE = ['malformed_request', 'request_timeout', 'headers_too_large'];

const UNKNOWN_PATH = { status: 404, name: 'UnknownPath' };
const UNKNOWN_METHOD = { status: 405, name: 'UnknownMethod' };
const OPTIONS = { status: 204, name: 'Options' };

/** The document of a server on which everything is switched on, made once for the whole run. */
export const openApi = load();

export type Operation = DocumentedOperation & { readonly path: string; readonly method: string };

/** All of its operations. */
export const OPERATIONS: readonly Operation[] = Object.entries(openApi.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({ ...operation, path, method })),
);

const ajv = addFormats.default(
  new Ajv2020({
    strictSchema: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    validateSchema: false,
  }),
);
// It compiles the whole of a document to get at a part of it.
ajv.addVocabulary(Object.keys(openApi));
ajv.addSchema(closed(openApi) as object, 'openapi');
const validators = new Map<string, ValidateFunction>();

function load(): OpenApi {
  const file = process.env.TEST_OPENAPI;
  if (file === undefined) throw new Error('No OpenAPI document: start the tests with npm test.');
  return JSON.parse(readFileSync(file, 'utf8')) as OpenApi;
}

/** Fails unless the document tells of this answer: its status, media type, body and each of its headers. */
export function expectDocumented(asked: Asked | undefined, answered: Answered): void {
  const fault = faultOf(asked, answered);
  if (fault === null) return;
  const { status, headers, bytes } = answered;
  const said = `${status} ${JSON.stringify(headers)} ${bytes.toString().slice(0, 500)}`;
  throw new Error(`The OpenAPI document and the answer to ${asked?.method} ${asked?.target} differ: ${fault}\n${said}`);
}

function faultOf(asked: Asked | undefined, { status, headers, bytes }: Answered): string | null {
  const place = placeOf(asked, status, bytes);
  const documented = place === null ? undefined : (at(place) as DocumentedAnswer | undefined);
  if (place === null || documented === undefined) return 'there is no such answer';
  return headerFault(documented, headers) ?? bodyFault(place, documented, asked?.method ?? '', headers, bytes);
}

/** Where the document tells of an answer, as a JSON Pointer. */
function placeOf(asked: Asked | undefined, status: number, bytes: Buffer): string | null {
  const method = asked?.method === 'HEAD' ? 'get' : (asked?.method.toLowerCase() ?? '');
  const [path, operations] = (asked && operationsAt(asked.target, method)) ?? [];
  const operation = operations?.[method];
  const { code } = problemIn(bytes);
  // Where there is no operators' key, there are no routes for them.
  const missing = code === 'not_found' && path?.startsWith('/admin/') === true;
  if (path !== undefined && operation !== undefined && !missing) {
    const response = operation.responses[status];
    return response?.$ref?.slice(1) ?? `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}`;
  }
  const { status: expected, name } =
    (path === undefined || missing) && asked?.target !== '*'
      ? UNKNOWN_PATH
      : method === 'options'
        ? OPTIONS
        : UNKNOWN_METHOD;
  if (status === expected) return `/components/responses/${name}`;
  if (asked === undefined && code !== undefined && !UNREADABLE.includes(code)) return null;
  // What any request can meet is told with every operation.
  const shared = openApi.paths['/openapi.json']?.get?.responses[status];
  return shared?.$ref?.slice(1) ?? null;
}

function problemIn(bytes: Buffer): { readonly code?: string } {
  try {
    return JSON.parse(bytes.toString()) as { code?: string };
  } catch {
    return {};
  }
}

/** The path of the document that a request's target is one of, with its operations. */
function operationsAt(target: string, method: string): [string, OpenApi['paths'][string]] | undefined {
  let path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*/s, '');
  try {
    path = decodeURI(path);
  } catch {
    return undefined;
  }
  const parts = path.split('/');
  const fits = (template: string) => {
    const names = template.split('/');
    return (
      names.length === parts.length &&
      names.every((name, n) => name === parts[n] || (name.startsWith('{') && parts[n] !== ''))
    );
  };
  // A path that is written out goes before one with a parameter in the same place, also where it lacks the method.
  const found = Object.entries(openApi.paths)
    .filter(([template]) => fits(template))
    .sort(([a], [b]) => a.split('{').length - b.split('{').length);
  const own = found.find(([template]) => !template.includes('{'));
  return own ?? found.find(([, operations]) => method in operations) ?? found[0];
}

function headerFault({ headers: documented }: DocumentedAnswer, sent: Answered['headers']): string | null {
  const known = new Set<string>();
  for (const [name, header] of Object.entries(documented)) {
    const lower = name.toLowerCase();
    known.add(lower);
    const { required, schema } = openApi.components.headers[header.$ref?.split('/').at(-1) ?? ''] ?? header;
    const value = sent[lower];
    if (value === undefined) {
      if (required) return `the header ${name} is missing`;
      continue;
    }
    const typed = (schema as { type: string }).type === 'integer' ? Number(value) : value;
    if (schema !== undefined && !ajv.validate(schema, typed)) return `${name} ${ajv.errorsText()}`;
  }
  const unknown = Object.keys(sent).filter((name) => !known.has(name) && !OF_HTTP.test(name));
  return unknown.length === 0 ? null : `nothing is said of the header ${unknown.join(', ')}`;
}

function bodyFault(
  place: string,
  { content }: DocumentedAnswer,
  method: string,
  headers: Answered['headers'],
  bytes: Buffer,
): string | null {
  const mediaType = headers['content-type']?.split(';')[0] ?? '';
  if (content === undefined) return mediaType === '' && bytes.length === 0 ? null : 'it must have no body';
  if (content[mediaType] === undefined) return `nothing is said of the type ${mediaType}`;
  if (method === 'HEAD') return bytes.length === 0 ? null : 'an answer to HEAD must have no body';
  const value: unknown = mediaType.endsWith('json') ? JSON.parse(bytes.toString()) : bytes.toString();
  const validate = validator(`${place}/content/${mediaType.replace('/', '~1')}/schema`);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

/** Validates by the schema at this JSON Pointer into the document; what an object doesn't describe it must not have. */
export function validator(pointer: string): ValidateFunction {
  let validate = validators.get(pointer);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `openapi#${pointer.replace(/\{|\}/g, encodeURIComponent)}` });
    validators.set(pointer, validate);
  }
  return validate;
}

function at(pointer: string): unknown {
  const keys = pointer.split('/').slice(1);
  return keys.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/')],
    openApi,
  );
}

/** Clients must be ready for new fields; the tests must not. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, closed(item)]));
  const isObject = copy.type === 'object' && 'properties' in copy && !('additionalProperties' in copy);
  return isObject ? { ...copy, additionalProperties: false } : copy;
}
