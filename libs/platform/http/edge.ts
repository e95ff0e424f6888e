import { METHODS, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, type ErrorCode } from '#kernel/domain-error.js';
import type { AddressBudget } from './address-budget.js';
import { KEEP_ALIVE_MS, newestOf, watchConnections } from './connections.js';
import { allowOrigins } from './cors.js';
import { keepGate, type Gate, type Refusal } from './gate.js';
import { PROBLEM_TYPE, PROBLEMS, toProblem, UNAVAILABLE_RETRY_AFTER } from './problems.js';
import { exhausted, rateLimitHeaders, type RateLimitWindow } from './rate-limit-headers.js';
import { leavesBodyUnread, rawProblem, type RawAnswer } from './raw-answer.js';
import { NO_PATH, requestFault, routedTarget } from './request-form.js';
import { requestId } from './request-id.js';
import type { RouteTable } from './route-table.js';
import { traceRequest } from './traceparent.js';
import type { Tracing } from '../tracing/tracing.js';

const MAX_HEADER_BYTES = 16 * 1024;
/** A client that is still sending must be able to read its refusal before the connection is reset. */
const LINGER_MS = 1_000;

export interface EdgeOptions {
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly maxConnections: number;
  /** Addresses and networks whose `X-Forwarded-For` is believed; none by default. */
  readonly trustProxy: readonly string[];
  /** Whose scripts may call from a browser; none by default. */
  readonly corsOrigins: readonly string[];
  /** Counts what comes without a valid API key, and what can't be read at all. */
  readonly strangers: AddressBudget;
  /** Learns of all routes. */
  readonly routes: RouteTable;
  /** Makes a span of each request; null makes none. */
  readonly tracing: Tracing | null;
  /** Is told of each request that could be read, at the end of its headers. */
  readonly watch: (request: FastifyRequest, reply: FastifyReply) => void;
  readonly gate: Gate;
  /** Is told of each request that was refused at the gate. */
  readonly refused: (request: IncomingMessage, refusal: Refusal, requestId: string) => void;
  /** Is told of answers to what could not be read: no hook of Fastify runs for them. */
  readonly unreadable: (status: number, requestId: string) => void;
}

/** Requests whose body waits for `100 Continue` until somebody wants to read it. */
export const expectingContinue = new WeakSet<IncomingMessage>();

/** Connections whose request was refused before it had arrived whole: what comes of it later no longer counts. */
export const givenUp = new WeakSet<Socket>();

/**
 * Fastify as the contract wants it: nobody reads a body before the key is settled, every answer has its request id
 * and `no-store`, and what the HTTP parser or the router refuses is answered with a problem document as well.
 */
export function createEdge(options: EdgeOptions): FastifyAdapter {
  const { strangers, tracing } = options;
  const adapter = new FastifyAdapter({
    bodyLimit: options.maxBodyBytes,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    genReqId: (request: IncomingMessage) => requestId(request.headers['x-request-id']),
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    clientErrorHandler: (error: ConnectionError, socket: Socket) => {
      answerUnreadable(error, socket, options);
    },
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) => {
      request.rateLimit = [strangers.take(request.ip).window];
      // Fastify runs no hook here.
      markAnswer(request, reply);
      tellLimits(request, reply, strangers);
      sendProblem(request, reply, new DomainError('malformed_request', 'The path is not validly percent-encoded.'));
      options.unreadable(reply.statusCode, request.id);
    },
    rewriteUrl: (request: IncomingMessage) => {
      const target = routedTarget(request);
      return options.routes.lacks(target, request.method ?? '') ? NO_PATH : target;
    },
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    forceCloseConnections: 'idle',
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      // A header sent twice becomes "a, b", which no rule accepts, instead of silently being the first of both.
      joinDuplicateHeaders: true,
      headersTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, options.requestTimeoutMs),
    },
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  // Fastify parses the body of a method that "has" one before any guard runs. Declared bodiless, it leaves it alone.
  for (const method of METHODS.filter((name) => !['GET', 'HEAD', 'CONNECT'].includes(name))) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  options.routes.learnFrom(fastify);
  watchConnections(fastify, options.requestTimeoutMs, options.maxConnections);
  fastify.addHook('onRequest', (request, reply, done) => {
    options.watch(request, reply);
    if (tracing !== null) traceRequest(tracing, request, reply);
    markAnswer(request, reply);
    const fault = requestFault(request.raw, request.originalUrl);
    if (fault !== undefined) request.rateLimit = [strangers.take(request.ip).window];
    done(fault);
  });
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    if (leavesBodyUnread(request.raw)) void reply.header('connection', 'close');
    tellLimits(request, reply, strangers);
    done();
  });
  const server = fastify.server;
  // Node leaves out headers beyond 2,000 unless told otherwise: what can't be seen here could not be refused.
  server.maxHeadersCount = 0;
  keepGate(server, options.gate, options.refused);
  allowOrigins(server, options.corsOrigins);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // Node takes any list that has it.
    if (request.headers.expect?.toLowerCase() !== '100-continue') {
      server.emit('checkExpectation', request, response);
      return;
    }
    expectingContinue.add(request);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const told = [strangers.take(request.socket.remoteAddress ?? '').window];
    const detail = 'The only expectation is 100-continue.';
    const { status, headers, body } = closing(options, 'malformed_request', detail, told, request);
    response.writeHead(status, headers).end(body);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined).resume();
    const told = [strangers.take(socket.remoteAddress ?? '').window];
    refuse(socket, closing(options, 'malformed_request', 'This server is no proxy.', told, request));
  });
  return adapter;
}

function windowsOf(request: FastifyRequest, reply: FastifyReply, strangers: AddressBudget): readonly RateLimitWindow[] {
  if (request.rateLimit !== undefined) return request.rateLimit;
  const window = strangers.peek(request.ip);
  // Nobody could tell whose request it is, so nothing was counted.
  return reply.statusCode === PROBLEMS.unavailable.status ? exhausted([window], UNAVAILABLE_RETRY_AFTER) : [window];
}

// Not through Fastify, which would spell the names in lower case.
function markAnswer(request: FastifyRequest, reply: FastifyReply): void {
  reply.raw.setHeader('X-Request-Id', request.id);
  reply.raw.setHeader('Cache-Control', 'no-store');
  reply.raw.setHeader('X-Content-Type-Options', 'nosniff');
}

function tellLimits(request: FastifyRequest, reply: FastifyReply, strangers: AddressBudget): void {
  for (const [name, value] of rateLimitHeaders(windowsOf(request, reply, strangers), Date.now())) {
    reply.raw.setHeader(name, value);
  }
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: DomainError): void {
  const problem = toProblem(error, request.id);
  void reply.status(problem.status).header('content-type', PROBLEM_TYPE).send(JSON.stringify(problem));
}

/** An answer outside of Fastify, after which the connection closes. */
function closing(
  { unreadable }: EdgeOptions,
  code: ErrorCode,
  detail: string,
  windows: readonly RateLimitWindow[],
  request?: IncomingMessage,
): RawAnswer {
  const id = requestId(request?.headers['x-request-id']);
  const answer = rawProblem(new DomainError(code, detail), windows, id, true);
  unreadable(answer.status, id);
  return answer;
}

type ConnectionError = Error & { code?: string };

const UNREADABLE: Readonly<Record<string, [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', `Headers and path together must be at most ${MAX_HEADER_BYTES} bytes.`],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'Send the whole request without delay.'],
};

const answeredUnreadable = new WeakSet<Socket>();

/** Answers what the HTTP parser could not read: an error of the newest request's body, or of what follows it. */
function answerUnreadable(error: ConnectionError, socket: Socket, options: EdgeOptions): void {
  // The parser complains of each further piece as well.
  if (answeredUnreadable.has(socket)) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  answeredUnreadable.add(socket);
  const [code, detail] = UNREADABLE[error.code ?? ''] ?? ['malformed_request', 'The request is not valid HTTP/1.1.'];
  const newest = newestOf(socket);
  const unread = newest?.request.complete === false;
  const told = (unread ? newest.windows : undefined) ?? [options.strangers.take(socket.remoteAddress ?? '').window];
  if (unread) {
    givenUp.add(socket);
    if (newest.response.writableEnded) socket.destroySoon();
    else refuse(socket, closing(options, code, detail, told, newest.request));
  } else if (newest?.isLast === true) {
    // The last answer of this connection is given, or being given.
    if (newest.response.writableFinished) socket.destroySoon();
  } else if (newest?.response.writableFinished === false) {
    // Answers keep the order of their requests: what is under way may yet be stored.
    newest.response.once('finish', () => {
      refuse(socket, closing(options, code, detail, told));
    });
  } else {
    refuse(socket, closing(options, code, detail, told));
  }
}

function refuse(socket: Socket, { status, headers, body }: RawAnswer): void {
  if (!socket.writable) return;
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
