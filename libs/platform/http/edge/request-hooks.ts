import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import type { AddressBudget } from '../access/address-budget.js';
import { BufferBudget, TOO_MUCH_BUFFERED } from '../body/buffer-budget.js';
import type { CorsHeaders } from './cors.js';
import { leavesBodyUnread, lingerAfter, SMALL_RESPONSE_BYTES } from './connections.js';
import { countForCaller } from './pipelining.js';
import { logUnavailable } from '../problem.filter.js';
import { HTTP_ERRORS } from '../errors.js';
import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import { exhausted, renewed } from '../access/rate-limit-headers.js';
import { RefusalQueue } from './refusal-queue.js';
import { requestError } from './request-form.js';
import type { RequestMetrics } from './request-metrics.js';
import { RequestQueue } from './request-queue.js';
import { replaceResponse, sendRefusal, setRateLimitHeaders, setStandardHeaders, type Refusal } from '../response.js';
import { traceRequest } from './traceparent.js';
import type { Logger } from '../../observability/logging.js';
import type { Metrics } from '../../observability/metrics.js';
import type { Tracing } from '../../observability/tracing/tracing.js';

/** Refuses from memory, with the same response, what the guards would refuse. */
export abstract class EarlyCheck {
  /**
   * Stores the key that a request presents, and its cached caller, on the request.
   * @returns whether it has a key that is valid or must be looked up
   */
  abstract recognize(request: FastifyRequest): boolean;

  /** @returns null when the guards must decide */
  abstract refusal(request: FastifyRequest): Refusal | null;
}

interface RequestHookOptions {
  /** Counts requests that have no valid API key. */
  readonly anonymous: AddressBudget;
  readonly metrics: RequestMetrics;
  /** Starts a span for each request; null when tracing is off. */
  readonly tracing: Tracing | null;
  readonly cors: CorsHeaders;
  /** Whether new requests must be refused because the others wait for too long. */
  readonly isOverloaded: () => boolean;
  readonly earlyCheck: EarlyCheck;
  /** Of all requests in progress, and as much of all responses. */
  readonly maxBufferedBytes: number;
  readonly gauges: Pick<Metrics, 'gauges'>;
  readonly logger: Logger;
}

const OVERLOADED = new DomainError('unavailable', 'The service is overloaded. Retry later.');

/**
 * The hooks of every request, which run before NestJS. A request that can be refused from memory ends here, at a fraction
 * of the cost of a request that is served.
 */
export function addRequestHooks(fastify: FastifyInstance, options: RequestHookOptions): void {
  const { anonymous, metrics, tracing, cors, isOverloaded, earlyCheck, logger } = options;
  const requests = new RequestQueue(fastify.server);
  const refusals = new RefusalQueue();
  const responses = new BufferBudget(options.maxBufferedBytes);
  fastify.decorate('bodies', new BufferBudget(options.maxBufferedBytes));
  options.gauges.gauges('sluice_buffered_bytes', 'Bytes of bodies in memory', 'bodies', {
    requests: () => fastify.bodies.bytes,
    responses: () => responses.bytes,
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    cors(request.raw, reply.raw);
    if (earlyCheck.recognize(request)) {
      const holder = request.operator !== undefined ? 'operators' : request.cachedCaller?.accountId;
      countForCaller(request.raw.socket, holder ?? null);
      if (holder !== undefined) fastify.connectionRoom.recognize(request.raw.socket, holder);
    }
    const refusal = isOverloaded()
      ? overload(anonymous, request)
      : (malformed(anonymous, request) ?? earlyCheck.refusal(request));
    if (refusal !== null) {
      reply.hijack();
      request.rateLimit = refusal.windows;
      refusals.run(() => {
        // The client may have disconnected, or sent what can't be read, in the meantime.
        if (!request.raw.socket.writable) return;
        sendRefusal(request, reply, refusal);
        metrics.refused(request, refusal);
      });
      return;
    }
    metrics.watch(request, reply);
    if (tracing !== null) traceRequest(tracing, request, reply);
    setStandardHeaders(request, reply);
    requests.run(request.cachedCaller?.accountId ?? '', reply.raw, () => {
      // The client may have disconnected in the meantime.
      if (request.raw.socket.writable) done();
      else reply.hijack();
    });
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const size = typeof payload === 'string' ? Buffer.byteLength(payload) : 0;
    const isSent = size <= SMALL_RESPONSE_BYTES && request.raw.socket.writableLength === 0;
    const fits = isSent || size === 0 || buffers(responses, request, reply, size);
    if (!fits) logUnavailable(logger, request, TOO_MUCH_BUFFERED);
    if (leavesBodyUnread(request.raw)) {
      void reply.header('connection', 'close');
      lingerAfter(request.raw);
    }
    setRateLimitHeaders(reply, windowsOf(request, reply, anonymous));
    done(null, fits ? payload : replaceResponse(request, reply, TOO_MUCH_BUFFERED));
  });
}

/** Counts a response until it is sent. @returns false when its caller reads too slowly what was sent before */
function buffers(responses: BufferBudget, request: FastifyRequest, reply: FastifyReply, size: number): boolean {
  // It is not sent any more.
  if (reply.raw.destroyed) return true;
  const transfer = responses.open(request, () => request.raw.socket.destroy());
  reply.raw.once('close', transfer.close);
  return transfer.add(size);
}

function overload(anonymous: AddressBudget, { clientAddress }: FastifyRequest): Refusal {
  return { error: OVERLOADED, windows: exhausted([anonymous.peek(clientAddress)]) };
}

function malformed(anonymous: AddressBudget, { raw, originalUrl, clientAddress }: FastifyRequest): Refusal | null {
  const error = requestError(raw, originalUrl);
  return error === undefined ? null : { error, windows: [anonymous.take(clientAddress).window] };
}

function windowsOf(request: FastifyRequest, reply: FastifyReply, anonymous: AddressBudget): readonly RateLimitWindow[] {
  const { rateLimit } = request;
  const isRefused = reply.statusCode === HTTP_ERRORS.rate_limit_exceeded.status;
  if (rateLimit !== undefined) return isRefused ? rateLimit : renewed(rateLimit);
  const window = anonymous.peek(request.clientAddress);
  // The key could not be looked up, so nothing was counted.
  return reply.statusCode === HTTP_ERRORS.unavailable.status ? exhausted([window]) : [window];
}
