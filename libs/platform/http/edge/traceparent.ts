import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseTraceparent } from '../../observability/tracing/traceparent.js';
import type { Tracing } from '../../observability/tracing/tracing.js';
import { pathOf } from './request-form.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's own span; missing when tracing is off. */
    traceparent?: string;
  }
}

/** The trace that a request belongs to; null when it is in none. */
export function traceparentOf({ traceparent, headers }: FastifyRequest): string | null {
  return traceparent ?? parseTraceparent(headers.traceparent);
}

export const Traceparent = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  traceparentOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** The methods that OpenTelemetry knows. Clients can send many others, and each would be a span name and a time series. */
export const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/**
 * Starts the span of a request, by OpenTelemetry's conventions for HTTP. It contains nothing that the client has chosen:
 * no header, and the path only of a successful request to a route. The fallback route matches any path.
 */
export function traceRequest(tracing: Tracing, request: FastifyRequest, reply: FastifyReply): void {
  const method = KNOWN_METHODS.has(request.method) ? request.method : '_OTHER';
  const { url = '*' } = request.routeOptions;
  const route = url.includes('*') ? null : url;
  const name = method === '_OTHER' ? 'HTTP' : method;
  const span = tracing.start({
    kind: 'server',
    name: route === null ? name : `${name} ${route}`,
    parent: parseTraceparent(request.headers.traceparent),
    attributes: {
      'http.request.method': method,
      'url.scheme': 'http',
      'network.protocol.version': request.raw.httpVersion,
      ...(route === null ? {} : { 'http.route': route }),
    },
  });
  request.traceparent = span.traceparent;
  // Unlike Fastify's hooks, this event also fires when the client has disconnected.
  reply.raw.once('close', () => {
    const { statusCode: status, headersSent } = reply.raw;
    span.end(
      {
        ...(headersSent ? { 'http.response.status_code': status } : {}),
        ...(headersSent && status < 400 && route !== null ? { 'url.path': pathOf(request.url) } : {}),
        ...(request.caller === undefined ? {} : { 'sluice.account.id': request.caller.accountId }),
      },
      headersSent && status >= 500 ? String(status) : undefined,
    );
  });
}
