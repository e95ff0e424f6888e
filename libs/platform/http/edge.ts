import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, type ErrorCode } from '#kernel/domain-error.js';
import { PROBLEM_TYPE, toProblem } from './problems.js';
import { requestId } from './request-id.js';

const MAX_HEADER_BYTES = 16 * 1024;
/** An unread body of up to this many bytes is cheaper to swallow than a connection is to open anew. */
const SWALLOWED_BODY_BYTES = 64 * 1024;

export interface EdgeOptions {
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
}

/** Requests whose body waits for `100 Continue` until somebody wants to read it. */
export const expectingContinue = new WeakSet<IncomingMessage>();

/**
 * Fastify as the contract wants it: nobody reads a body before the key is settled, every answer has its request id
 * and `no-store`, and what the HTTP parser or the router refuses is answered with a problem document as well.
 */
export function createEdge(options: EdgeOptions): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: options.maxBodyBytes,
    requestTimeout: options.requestTimeoutMs,
    genReqId: (request: IncomingMessage) => requestId(request.headers['x-request-id']),
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) => {
      sendProblem(request, reply, new DomainError('malformed_request', 'The path is not validly percent-encoded.'));
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
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id).header('cache-control', 'no-store');
    done(requestFault(request));
  });
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    if (leavesBodyUnread(request.raw)) void reply.header('connection', 'close');
    done();
  });
  const server = fastify.server;
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    expectingContinue.add(request);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const id = requestId(request.headers['x-request-id']);
    response.writeHead(400, plainHeaders(id));
    response.end(problemText('malformed_request', 'The only expectation supported is 100-continue.', id));
  });
  return adapter;
}

function requestFault(request: FastifyRequest): DomainError | undefined {
  const { host } = request.headers;
  if (host === undefined ? request.raw.httpVersion === '1.1' : host.includes(',')) {
    return new DomainError('malformed_request', 'The request must have exactly one Host header.');
  }
  return undefined;
}

function leavesBodyUnread(request: IncomingMessage): boolean {
  if (request.complete || request.readableEnded) return false;
  if (request.headers['transfer-encoding'] !== undefined) return true;
  return Number(request.headers['content-length'] ?? 0) > SWALLOWED_BODY_BYTES;
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: DomainError): void {
  const problem = toProblem(error, request.id);
  void reply
    .status(problem.status)
    .header('x-request-id', request.id)
    .header('cache-control', 'no-store')
    .header('content-type', PROBLEM_TYPE)
    .send(JSON.stringify(problem));
}

function plainHeaders(id: string): Record<string, string> {
  return { 'X-Request-Id': id, 'Cache-Control': 'no-store', 'Content-Type': PROBLEM_TYPE, Connection: 'close' };
}

function problemText(code: ErrorCode, detail: string, id: string): string {
  return JSON.stringify(toProblem(new DomainError(code, detail), id));
}

const UNREADABLE: Readonly<Record<string, [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', `Headers and path together must be at most ${MAX_HEADER_BYTES} bytes.`],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'Send the whole request without delay.'],
};

/** Answers what the HTTP parser could not read; there is no request object yet, only the connection. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [code, detail] = UNREADABLE[error.code ?? ''] ?? ['malformed_request', 'The request is not valid HTTP/1.1.'];
  const id = requestId(undefined);
  const body = problemText(code, detail, id);
  const { status } = toProblem(new DomainError(code, detail), id);
  const headers = { ...plainHeaders(id), 'Content-Length': String(Buffer.byteLength(body)) };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`);
}
