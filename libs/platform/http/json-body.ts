import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, ValidationError } from '#kernel/domain-error.js';
import { abandonedSockets, expectingContinue } from './connections.js';

type BodyClass = new () => object;

/** The body that a handler's parameter declares. */
export interface DeclaredBody {
  readonly type: BodyClass;
  readonly required: boolean;
}

/** Where a handler's body is declared: metadata of its class and name. */
export const BODY = Symbol('body');

function declared(body: DeclaredBody, decorator: ParameterDecorator): ParameterDecorator {
  return (target, handler, index) => {
    if (handler !== undefined) Reflect.defineMetadata(BODY, body, target, handler);
    decorator(target, handler, index);
  };
}

/**
 * The request's JSON body as an instance of a class with class-validator's rules. It is read after the guards have run:
 * media type, size, JSON and fields are checked in this order.
 */
export function JsonBody(type: BodyClass): ParameterDecorator {
  const read = createParamDecorator((_data: unknown, context: ExecutionContext) => {
    const http = context.switchToHttp();
    return readBody(type, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  });
  return declared({ type, required: true }, read());
}

/** The same for a body that may be missing, which means `{}`. */
export function OptionalJsonBody(type: BodyClass): ParameterDecorator {
  const read = createParamDecorator((_data: unknown, context: ExecutionContext) => {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    if (Number(length) === 0 && encoding === undefined) return new type();
    return readBody(type, request, http.getResponse<FastifyReply>());
  });
  return declared({ type, required: false }, read());
}

async function readBody(type: BodyClass, request: FastifyRequest, reply: FastifyReply): Promise<object> {
  checkMediaType(request);
  const limit = request.server.initialConfig.bodyLimit ?? 0;
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (expectingContinue.has(request.raw)) reply.raw.writeContinue();
  return validated(type, parse(await collect(request.raw, limit)));
}

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?$/i;

function checkMediaType(request: FastifyRequest): void {
  if (!JSON_MEDIA_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new DomainError('invalid_content_type', 'Send the body with Content-Type: application/json.');
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new DomainError('unsupported_encoding', 'Send the body without a Content-Encoding.');
  }
}

function tooLarge(limit: number): DomainError {
  return new DomainError('body_too_large', `The body must be at most ${limit} bytes.`);
}

// Event listeners instead of `for await`: an async iterator costs several promises for each small body.
function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      request.pause();
      request.removeAllListeners('data');
      reject(tooLarge(limit));
    });
    let complete = false;
    request.on('end', () => {
      if (abandonedSockets.has(request.socket)) return;
      complete = true;
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    // The client is gone; rejecting ends the work. The error is created only then, because it captures a stack.
    request.on('close', () => {
      if (!complete) reject(new DomainError('malformed_request', 'The request ended before its body was complete.'));
    });
  });
}

// `fatal`: invalid UTF-8 is refused instead of replaced by U+FFFD. `ignoreBOM`: a byte order mark is not valid JSON.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Deeper nesting takes the parser many times longer than any other text of that size, and blocks the event loop. */
const MAX_DEPTH = 250_000;
const [QUOTE, BACKSLASH, BRACKET, BRACE, END_BRACKET, END_BRACE] = Buffer.from('"\\[{]}');

/** Whether arrays and objects are nested deeper than that. */
function isTooDeep(body: Buffer): boolean {
  if (body.length <= MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index];
    if (inString) {
      if (byte === BACKSLASH) index++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === BRACKET || byte === BRACE) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === END_BRACKET || byte === END_BRACE) depth--;
  }
  return false;
}

function parse(body: Buffer): unknown {
  if (isTooDeep(body)) {
    throw new DomainError('invalid_json', `The body must not be nested more than ${MAX_DEPTH} deep.`);
  }
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new DomainError('invalid_json', 'The body must be one JSON object in UTF-8.');
  }
}

const knownFields = new WeakMap<BodyClass, readonly string[]>();

function fieldsOf(type: BodyClass): readonly string[] {
  let fields = knownFields.get(type);
  if (fields === undefined) {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    fields = [...new Set(metadata.map(({ propertyName }) => propertyName))];
    knownFields.set(type, fields);
  }
  return fields;
}

// Only fields that have rules are copied, and only own ones: `__proto__`, `constructor` and the like never arrive.
function validated(type: BodyClass, json: unknown): object {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ValidationError([{ pointer: '', detail: 'The body must be a JSON object.' }]);
  }
  const body = new type() as Record<string, unknown>;
  for (const field of fieldsOf(type)) {
    if (Object.hasOwn(json, field)) body[field] = (json as Record<string, unknown>)[field];
  }
  const errors = validateSync(body, { stopAtFirstError: true, validationError: { target: false, value: false } });
  if (errors.length > 0) {
    throw new ValidationError(
      errors.map(({ property, constraints }) => ({
        pointer: `/${property}`,
        detail: Object.values(constraints ?? {})[0] ?? `${property} is not valid.`,
      })),
    );
  }
  return body;
}
