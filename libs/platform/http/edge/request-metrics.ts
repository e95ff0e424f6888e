import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Distribution } from '../../observability/distribution.js';
import type { Metrics } from '../../observability/metrics.js';
import type { AccessLog, Status } from './access-log.js';
import { abandonedSockets } from './connections.js';
import { errorKind } from '../problems.js';
import type { Refusal } from '../response.js';
import { KNOWN_METHODS, traceparentOf } from './traceparent.js';
import { traceIdOf } from '../../observability/tracing/traceparent.js';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** The route and method of a request that could not be read or was not considered. */
const NONE = 'none';

/** Counts, times and logs each request once: when its response is written or its connection is lost. */
export class RequestMetrics {
  private readonly addSeries;
  /** By route, method and status. */
  private readonly series = new Map<string, Map<string, Map<Status, Distribution>>>();

  constructor(
    metrics: Metrics,
    private readonly log: AccessLog,
  ) {
    this.addSeries = metrics.histograms(
      'sluice_http_request_duration_seconds',
      'Requests by route and status, from the end of their headers until the response was written or the connection lost',
      SECONDS,
    );
  }

  /** Call it at the end of a request's headers. */
  watch(request: FastifyRequest, reply: FastifyReply): void {
    const startedAt = performance.now();
    let finished = false;
    reply.raw.on('finish', () => {
      finished = true;
    });
    // Unlike Fastify's hooks, this event also fires when the client has disconnected.
    reply.raw.on('close', () => {
      // A request that was refused on its connection has been counted as unreadable.
      if (!finished && abandonedSockets.has(request.raw.socket)) return;
      this.record(request, finished ? reply.statusCode : 'aborted', performance.now() - startedAt);
    });
  }

  /** A response to something that could not be read as a request. */
  unreadable(status: number, requestId: string): void {
    this.observe(NONE, NONE, status, 0);
    if (this.log.wants(status)) {
      this.log.write({ requestId, method: NONE, route: NONE, status, durationMs: 0 });
    }
  }

  /** A request that was refused before it was served. */
  refused(request: FastifyRequest, { error, caller }: Refusal): void {
    const { status } = errorKind(error.code);
    if (error.code === 'unavailable') {
      this.observe(NONE, NONE, status, 0);
      this.log.overloaded();
    } else if (error.code === 'malformed_request') {
      this.unreadable(status, request.id);
    } else {
      this.record(request, status, 0, caller);
    }
  }

  private record(
    request: FastifyRequest,
    status: Status,
    durationMs: number,
    caller: Refusal['caller'] = request.caller,
  ): void {
    const { url: route = NONE } = request.routeOptions;
    const method = KNOWN_METHODS.has(request.method) ? request.method : 'other';
    this.observe(route, method, status, durationMs);
    if (!this.log.wants(status)) return;
    const { accountId, keyId } = caller ?? {};
    const traceId = traceIdOf(traceparentOf(request));
    this.log.write({ requestId: request.id, traceId, method, route, status, durationMs, accountId, keyId });
  }

  private observe(route: string, method: string, status: Status, durationMs: number): void {
    let methods = this.series.get(route);
    if (methods === undefined) this.series.set(route, (methods = new Map<string, Map<Status, Distribution>>()));
    let statuses = methods.get(method);
    if (statuses === undefined) methods.set(method, (statuses = new Map<Status, Distribution>()));
    let series = statuses.get(status);
    if (series === undefined)
      statuses.set(status, (series = this.addSeries({ method, route, status: String(status) })));
    series.observe(durationMs / 1_000);
  }
}
