import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, ValidationError, type FieldError } from '#kernel/domain-error.js';
import { TOO_MUCH_BUFFERED, type BufferBudget } from './buffer-budget.js';
import { JsonReader } from './json-reader.js';
import { abandonedSockets, expectingContinue } from '../edge/connections.js';
import { takesKnownFieldsOnly } from '../openapi/operation.js';
import { CallerLimit } from '../../concurrency/caller-limit.js';

type BodyClass = new () => object;

/** The maximum size of all bodies except messages. Anonymous clients can send such bodies, too. */
const MAX_BYTES = 16 * 1_024;

/** The body that a handler's parameter declares. */
export interface DeclaredBody {
  readonly type: BodyClass;
  readonly required: boolean;
  /** Its maximum size, if that is less than `MAX_BODY_BYTES`. */
  readonly maxBytes: number;
  /** What the items of its list are, if it has one. */
  readonly item?: BodyClass | undefined;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts the bodies of requests in progress. */
    bodies: BufferBudget;
  }
}

/** Where a handler's body is declared: metadata of its class and name. */
export const BODY = Symbol('body');

/**
 * The request's JSON body as an instance of a class with class-validator's rules. It is read after the guards have run:
 * media type, size, JSON and fields are checked in this order.
 * @param maxBytes its maximum size, up to `MAX_BODY_BYTES`
 * @param item the class of the items of its list, if they are objects
 */
export function JsonBody(type: BodyClass, maxBytes = MAX_BYTES, item?: BodyClass): ParameterDecorator {
  return declared({ type, required: true, maxBytes, item });
}

/** The same for a body that may be missing, which means `{}`. */
export function OptionalJsonBody(type: BodyClass): ParameterDecorator {
  return declared({ type, required: false, maxBytes: MAX_BYTES });
}

function declared(body: DeclaredBody): ParameterDecorator {
  const decorate = createParamDecorator((_data: unknown, context: ExecutionContext) => {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    return body.required || hasBody(request)
      ? readBody(body, request, http.getResponse<FastifyReply>())
      : new body.type();
  })();
  return (target, handler, index) => {
    if (handler !== undefined) Reflect.defineMetadata(BODY, body, target, handler);
    decorate(target, handler, index);
  };
}

function hasBody({ headers }: FastifyRequest): boolean {
  return Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined;
}

async function readBody(declaredBody: DeclaredBody, request: FastifyRequest, reply: FastifyReply): Promise<object> {
  checkMediaType(request);
  const limit = Math.min(declaredBody.maxBytes, request.server.initialConfig.bodyLimit ?? 0);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (expectingContinue.has(request.raw)) reply.raw.writeContinue();
  const body = await collect(request, reply, limit);
  const isLarge = body.length > LARGE_BYTES;
  const json = isLarge ? await parseLarge(declaredBody, body, request, reply) : parse(body);
  return validated(declaredBody.type, json, Object.keys(request.query ?? {}));
}

/** `JSON.parse` takes up to some milliseconds for a text of this size. */
const LARGE_BYTES = 64 * 1_024;
/** How long large bodies are parsed in one iteration of the event loop: all of them together, since they take turns. */
const STEP_MS = 2;
/** What a caller may take at once. No batch with short metadata takes longer. */
const FREE_MS = 25;
/** After it has parsed, a caller waits this many times as long: it gets a fifth of the time at most. */
const WAITS = 4;
const callerLimit = new CallerLimit({ perCaller: 1, maxWaitMs: 2_000 });

/** Callers take turns with large bodies, and a caller parses one after another. */
async function parseLarge(
  { type, item }: DeclaredBody,
  body: Buffer,
  { caller, operator }: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const callerId = caller?.accountId ?? (operator === undefined ? '' : 'operators');
  await callerLimit.acquire(callerId, reply.raw);
  let spentMs = 0;
  let restedMs = 0;
  try {
    const text = decode(body);
    const reader = new JsonReader(text, new Set(fieldsOf(type)), new Set(item && fieldsOf(item)));
    for (;;) {
      await nextTurn();
      const startedAt = performance.now();
      const isRead = readStep(reader);
      spentMs += performance.now() - startedAt;
      if (isRead) return reader.value;
      if (reply.raw.destroyed) throw new DomainError('malformed_request', 'The client closed the connection.');
      const restMs = WAITS * (spentMs - FREE_MS) - restedMs;
      if (restMs > 0) await sleep(restMs);
      restedMs += Math.max(0, restMs);
    }
  } finally {
    callerLimit.release(callerId, WAITS * spentMs - restedMs);
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves once in each iteration of the event loop. */
function nextTurn(): Promise<void> {
  return (lastTurn = lastTurn.then(() => setImmediate()));
}

function readStep(reader: JsonReader): boolean {
  try {
    return reader.read(STEP_MS);
  } catch {
    throw invalidJson();
  }
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
function collect(request: FastifyRequest, reply: FastifyReply, limit: number): Promise<Buffer> {
  const { raw, server } = request;
  return new Promise((resolve, reject) => {
    // The client is gone; rejecting ends the work. The error is created only then, because it captures a stack.
    const leave = () => {
      reject(new DomainError('malformed_request', 'The request ended before its body was complete.'));
    };
    // Perhaps while the guards ran.
    if (raw.destroyed) {
      leave();
      return;
    }
    let body: Buffer = NOTHING;
    let size = 0;
    const stop = (error: DomainError) => {
      // Discards what still arrives.
      raw.removeAllListeners('data').resume();
      body = NOTHING;
      reject(error);
    };
    const transfer = server.bodies.open(request, () => {
      stop(TOO_MUCH_BUFFERED);
    });
    reply.raw.once('close', transfer.close);
    raw.on('data', (chunk: Buffer) => {
      if (size + chunk.length > limit) stop(tooLarge(limit));
      else if (!transfer.add(chunk.length)) stop(TOO_MUCH_BUFFERED);
      else {
        body = joined(body, size, chunk);
        size += chunk.length;
      }
    });
    let complete = false;
    raw.on('end', () => {
      if (abandonedSockets.has(raw.socket)) return;
      complete = true;
      transfer.keep();
      resolve(body.subarray(0, size));
    });
    raw.on('close', () => {
      if (!complete) leave();
    });
  });
}

const NOTHING = Buffer.alloc(0);

/** One buffer for all chunks: a body in chunks of one byte would otherwise take a hundred times its size. */
function joined(body: Buffer, size: number, chunk: Buffer): Buffer {
  if (size === 0) return chunk;
  const needed = size + chunk.length;
  const larger = needed > body.length ? Buffer.allocUnsafeSlow(Math.max(needed, 2 * body.length)) : body;
  if (larger !== body) body.copy(larger, 0, 0, size);
  chunk.copy(larger, size);
  return larger;
}

// `fatal`: invalid UTF-8 is refused instead of replaced by U+FFFD. `ignoreBOM`: a byte order mark is not valid JSON.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw invalidJson();
  }
}

function parse(body: Buffer): unknown {
  const text = decode(body);
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson();
  }
}

function invalidJson(): DomainError {
  return new DomainError('invalid_json', 'The body must be one JSON object in UTF-8.');
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
function validated(type: BodyClass, json: unknown, query: readonly string[]): object {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ValidationError([{ pointer: '', detail: 'The body must be a JSON object.' }]);
  }
  const body = new type() as Record<string, unknown>;
  for (const field of fieldsOf(type)) {
    if (Object.hasOwn(json, field)) body[field] = (json as Record<string, unknown>)[field];
  }
  const errors: FieldError[] = validateSync(body, { validationError: { target: false, value: false } }).map(
    ({ property, constraints }) => ({
      pointer: `/${property}`,
      // What is no number breaks the bounds as well.
      detail: constraints?.isInt ?? Object.values(constraints ?? {})[0] ?? `${property} is not valid.`,
    }),
  );
  if (takesKnownFieldsOnly(type)) errors.push(...unknownFields(fieldsOf(type), Object.keys(json), query));
  if (errors.length > 0) throw new ValidationError(errors);
  return body;
}

/** Further ones would only make the response longer. */
const MAX_UNKNOWN_FIELDS = 10;

function unknownFields(known: readonly string[], fields: readonly string[], query: readonly string[]): FieldError[] {
  const unknown = fields.filter((field) => !known.includes(field)).slice(0, MAX_UNKNOWN_FIELDS);
  const misplaced = query.filter((name) => known.includes(name));
  return [
    ...unknown.map((field) => ({
      pointer: `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      detail: `The body takes only these fields: ${known.join(', ')}.`,
    })),
    ...misplaced.map((name) => ({ pointer: '', detail: `${name} must be in the body, not in the query.` })),
  ];
}
