import { METHODS, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import type { AddressBudget } from '../access/address-budget.js';
import { abandonedSockets, closeLingering, expectingContinue, newestReply, watchConnections } from './connections.js';
import { addClientAddress, TrustedProxies } from '../access/client-address.js';
import { ConnectionRoom } from './connection-room.js';
import { isServed } from './connections.js';
import { CountedResponse } from './pipelining.js';
import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import { renewed } from '../access/rate-limit-headers.js';
import { rawProblem, type RawProblem } from './raw-problem.js';
import { NO_PATH, routedTarget } from './request-form.js';
import { requestId } from './request-id.js';
import type { RequestMetrics } from './request-metrics.js';
import type { RouteTable } from '../route-table.js';

const MAX_HEADER_BYTES = 16 * 1024;

interface EdgeOptions {
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  /** Addresses and networks whose `X-Forwarded-For` is trusted; none by default. */
  readonly trustProxy: readonly string[];
  /** Counts requests that could not be read. */
  readonly anonymous: AddressBudget;
  /** Filled with all routes as they are registered. */
  readonly routes: RouteTable;
  readonly metrics: RequestMetrics;
}

/**
 * Fastify with this API's HTTP rules: no body is read before the guards have run, and requests that the HTTP parser or
 * the router refuses get a problem document too.
 */
export function createEdge(options: EdgeOptions): FastifyAdapter {
  const { anonymous } = options;
  const proxies = new TrustedProxies(options.trustProxy);
  const adapter = new FastifyAdapter({
    bodyLimit: options.maxBodyBytes,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    genReqId: (request: IncomingMessage) => requestId(request.headers['x-request-id']),
    clientErrorHandler: (error: ConnectionError, socket: Socket) => {
      respondToUnreadable(error, socket, options);
    },
    rewriteUrl: (request: IncomingMessage) => {
      const target = routedTarget(request);
      return options.routes.lacks(target, request.method ?? '') ? NO_PATH : target;
    },
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    forceCloseConnections: 'idle',
    http: {
      ServerResponse: CountedResponse,
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      // A header that is sent twice becomes "a, b", which no rule accepts; otherwise Node would keep only the first.
      joinDuplicateHeaders: true,
      headersTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, options.requestTimeoutMs),
    },
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  // Fastify parses the body of methods that have one before any guard runs, so all are declared to have none.
  for (const method of METHODS.filter((name) => !['GET', 'HEAD', 'CONNECT'].includes(name))) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  addClientAddress(fastify, proxies);
  options.routes.collectFrom(fastify);
  watchConnections(fastify, options.requestTimeoutMs);
  const room = new ConnectionRoom(options.maxConnections, proxies, isServed);
  room.watch(fastify.server);
  fastify.decorate('connectionRoom', room);
  const server = fastify.server;
  // By default Node silently drops headers beyond 2,000, so that they could not be refused.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // Node emits this event for any list that contains 100-continue.
    if (request.headers.expect?.toLowerCase() !== '100-continue') {
      server.emit('checkExpectation', request, response);
      return;
    }
    expectingContinue.add(request);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const windows = [anonymous.take(proxies.clientOf(request)).window];
    const detail = 'The only supported expectation is 100-continue.';
    const { status, headers, body } = closingProblem(options, 'malformed_request', detail, windows, request);
    response.writeHead(status, headers).end(body);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined).resume();
    const windows = [anonymous.take(proxies.clientOf(request)).window];
    refuse(socket, closingProblem(options, 'malformed_request', 'This server is not a proxy.', windows, request));
  });
  return adapter;
}

/** A response without Fastify, after which the connection closes. */
function closingProblem(
  { metrics }: EdgeOptions,
  code: string,
  detail: string,
  windows: readonly RateLimitWindow[],
  request?: IncomingMessage,
): RawProblem {
  const id = requestId(request?.headers['x-request-id']);
  const problem = rawProblem(new DomainError(code, detail), windows, id, true);
  metrics.unreadable(problem.status, id);
  return problem;
}

type ConnectionError = Error & { code?: string };

const UNREADABLE: Readonly<Record<string, [string, string]>> = {
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    `The path and headers must be at most ${MAX_HEADER_BYTES} bytes in total.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time. Send it without pauses.'],
};

const refusedSockets = new WeakSet<Socket>();

/** Responds to what the HTTP parser could not read: an error in the newest request's body, or in what follows it. */
function respondToUnreadable(error: ConnectionError, socket: Socket, options: EdgeOptions): void {
  // The parser reports each further piece as well.
  if (refusedSockets.has(socket)) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  refusedSockets.add(socket);
  const [code, detail] = UNREADABLE[error.code ?? ''] ?? ['malformed_request', 'The request is not valid HTTP/1.1.'];
  const newest = newestReply(socket);
  const { anonymous } = options;
  const isBody = newest?.request.raw.complete === false;
  // The guards count a request whose headers were read.
  const windows = isBody
    ? renewed(newest.request.rateLimit ?? [anonymous.peek(newest.request.clientAddress)])
    : [anonymous.take(socket.remoteAddress ?? '').window];
  if (isBody) {
    abandonedSockets.add(socket);
    if (newest.raw.writableEnded) socket.destroySoon();
    else refuse(socket, closingProblem(options, code, detail, windows, newest.request.raw));
  } else if (newest?.getHeader('connection') === 'close') {
    // The last response of this connection has been sent, or is being sent.
    if (newest.raw.writableFinished) socket.destroySoon();
  } else if (newest?.raw.writableFinished === false) {
    // Responses keep the order of their requests, and the one in progress may still store something.
    newest.raw.once('finish', () => {
      refuse(socket, closingProblem(options, code, detail, windows));
    });
  } else {
    refuse(socket, closingProblem(options, code, detail, windows));
  }
}

function refuse(socket: Socket, { status, headers, body }: RawProblem): void {
  if (!socket.writable) return;
  const head = Object.entries({ ...headers, Date: new Date().toUTCString() }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`);
  closeLingering(socket);
}
