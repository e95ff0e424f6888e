import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';

/** The parts of an OpenAPI document that tests use. */
interface DocumentedResponse {
  readonly headers: Readonly<Record<string, DocumentedHeader & { readonly $ref?: string }>>;
  readonly content?: Readonly<Record<string, object>>;
}

interface DocumentedHeader {
  readonly required?: boolean;
  readonly schema?: DocumentedSchema;
}

interface DocumentedSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
}

interface DocumentedLink {
  readonly operationId: string;
  readonly parameters: object;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly schema: DocumentedSchema }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: unknown } } };
  readonly responses: Readonly<
    Record<
      string,
      { readonly $ref?: string; readonly headers?: object; readonly links?: Readonly<Record<string, DocumentedLink>> }
    >
  >;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly webhooks: OpenApi['paths'];
  readonly components: {
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
    readonly headers: Readonly<Record<string, DocumentedHeader>>;
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, DocumentedSchema>> }>>;
  };
}

export interface RequestLine {
  readonly method: string;
  readonly target: string;
}

export interface RecordedResponse {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** Headers of HTTP itself and of CORS, which the document does not contain. */
const HTTP_HEADERS =
  /^(connection|content-length|content-type|date|keep-alive|transfer-encoding|vary|access-control-.*)$/;

/** The portal, which the document does not contain. */
const PAGES = /^\/($|assets\/portal\/.)/;

/** Errors of requests that the HTTP parser rejects, regardless of the route. */
const PARSER_ERRORS = ['malformed_request', 'request_timeout', 'headers_too_large'];

/** Of environment.mjs: what the files of a worker share. */
interface Schemas {
  readonly openApi: OpenApi;
  readonly ajv: Ajv2020;
  readonly validators: Map<string, ValidateFunction>;
}

const { openApi, ajv, validators } = (globalThis as unknown as { documentedSchemas(): Schemas }).documentedSchemas();

/** The document of a server with all features enabled. */
export { openApi };

export type Operation = DocumentedOperation & { readonly path: string; readonly method: string };

export const OPERATIONS = operationsOf(openApi.paths);

/** Requests that Sluice sends; `path` is their name. */
export const WEBHOOKS = operationsOf(openApi.webhooks);

function operationsOf(paths: OpenApi['paths']): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ ...operation, path, method })),
  );
}

/**
 * Fails unless the document contains this response: its status, media type, body and each of its headers.
 * @param request undefined if the server could not parse it
 */
export function expectDocumented(request: RequestLine | undefined, response: RecordedResponse): void {
  const pointer = responsePointer(request, response);
  const documented = pointer === null ? undefined : (at(pointer) as DocumentedResponse | undefined);
  const error =
    pointer === null || documented === undefined
      ? 'it has no such response'
      : (headerError(documented, response.headers) ?? bodyError(pointer, documented, request?.method, response));
  if (error === null) return;
  const { status, headers, bytes } = response;
  const shown = `${status} ${JSON.stringify(headers)} ${bytes.toString().slice(0, 500)}`;
  throw new Error(`Not as in the OpenAPI document: ${request?.method} ${request?.target}: ${error}\n${shown}`);
}

/** Where the document describes a response, as a JSON Pointer. */
function responsePointer(request: RequestLine | undefined, { status, bytes }: RecordedResponse): string | null {
  const method = request?.method === 'HEAD' ? 'get' : (request?.method.toLowerCase() ?? '');
  const [path, operations] = (request && findPath(request.target, method)) ?? [];
  const operation = operations?.[method];
  const code = errorCode(bytes);
  // Without an operators' key, the server has no routes for operators.
  const disabled = code === 'not_found' && path?.startsWith('/admin/') === true;
  if (path !== undefined && operation !== undefined && !disabled) {
    const reference = operation.responses[status]?.$ref?.slice(1);
    return reference ?? `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}`;
  }
  const isForPage = request !== undefined && PAGES.test(pathOf(request.target) ?? '');
  const unknownPath = ((path === undefined && !isForPage) || disabled) && request?.target !== '*';
  if ((unknownPath || isForPage) && status === 404) return '/components/responses/NotFound';
  if (!unknownPath && method === 'options' && status === 204) return '/components/responses/Options';
  if (!unknownPath && method !== 'options' && status === 405) return '/components/responses/MethodNotAllowed';
  if (request === undefined && code !== undefined && !PARSER_ERRORS.includes(code)) return null;
  // Errors that any request can cause are part of every operation.
  const common = openApi.paths['/openapi.json']?.get?.responses[status];
  return common?.$ref?.slice(1) ?? null;
}

function errorCode(bytes: Buffer): string | undefined {
  try {
    return (JSON.parse(bytes.toString()) as { code?: string }).code;
  } catch {
    return undefined;
  }
}

/** By the paths of the document. */
const PATTERNS: Readonly<Record<string, RegExp>> = Object.fromEntries(
  Object.keys(openApi.paths).map((path) => [
    path,
    new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  ]),
);

/** Decoded; null if that is impossible. */
function pathOf(target: string): string | null {
  try {
    return decodeURI(target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*/s, '') || '/');
  } catch {
    return null;
  }
}

/** The documented path that a request target matches, with its operations. */
function findPath(target: string, method: string): [string, OpenApi['paths'][string]] | undefined {
  const path = pathOf(target);
  if (path === null) return undefined;
  const found = Object.entries(openApi.paths).filter(([template]) => PATTERNS[template]?.test(path));
  // A path without parameters takes precedence, even if it lacks the method.
  const exact = found.find(([template]) => !template.includes('{'));
  return exact ?? found.find(([, operations]) => method in operations) ?? found[0];
}

function headerError({ headers: documented }: DocumentedResponse, sent: RecordedResponse['headers']): string | null {
  for (const [name, header] of Object.entries(documented)) {
    const { required, schema } = openApi.components.headers[header.$ref?.split('/').at(-1) ?? ''] ?? header;
    const value = sent[name.toLowerCase()];
    if (value === undefined && required) return `the header ${name} is missing`;
    if (value === undefined || schema === undefined) continue;
    if (!ajv.validate(schema, schema.type === 'integer' ? Number(value) : value)) return `${name} ${ajv.errorsText()}`;
  }
  const known = Object.keys(documented).map((name) => name.toLowerCase());
  const unknown = Object.keys(sent).filter((name) => !known.includes(name) && !HTTP_HEADERS.test(name));
  return unknown.length === 0 ? null : `it has no header ${unknown.join(', ')}`;
}

function bodyError(
  pointer: string,
  { content }: DocumentedResponse,
  method: string | undefined,
  { headers, bytes }: RecordedResponse,
): string | null {
  const mediaType = headers['content-type']?.split(';')[0] ?? '';
  if (content === undefined) return mediaType === '' && bytes.length === 0 ? null : 'the response has a body';
  if (content[mediaType] === undefined) return `it has no media type ${mediaType}`;
  if (method === 'HEAD') return bytes.length === 0 ? null : 'the response to HEAD has a body';
  const value: unknown = mediaType.endsWith('json') ? JSON.parse(bytes.toString()) : bytes.toString();
  const validate = validator(`${pointer}/content/${mediaType.replace('/', '~1')}/schema`);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

/** Fails unless the document contains this body of a request to an endpoint. */
export function expectDocumentedWebhook(name: 'message' | 'operationalEvent', body: string): void {
  const validate = validator(`/webhooks/${name}/post/requestBody/content/application~1json/schema`);
  if (!validate(JSON.parse(body))) throw new Error(`${ajv.errorsText(validate.errors)}: ${body.slice(0, 500)}`);
}

/** Validates by the schema at a JSON Pointer into the document. Unlike clients, it rejects undocumented properties. */
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
