import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Distribution } from '../management/distribution.js';
import type { Metrics } from '../management/metrics.js';
import type { AccessLog } from './access-log.js';
import { traceparentOf } from './traceparent.js';
import { traceIdOf } from '../tracing/traceparent.js';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** What could not be read has neither a method nor a route. */
const NONE = 'none';
/** Where no route takes a request, any method may come. */
const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts, times and logs each request when its answer has been written. */
export class AnsweredRequests {
  private readonly addSeries;
  /** By route, method and status. */
  private readonly series = new Map<string, Map<string, Distribution[]>>();

  constructor(
    metrics: Metrics,
    private readonly log: AccessLog,
  ) {
    this.addSeries = metrics.histograms(
      'sluice_http_request_duration_seconds',
      'Requests by route and status, from the end of their headers until their answer was written',
      SECONDS,
    );
  }

  watch(fastify: FastifyInstance): void {
    fastify.addHook('onResponse', (request, reply, done) => {
      this.answered(request, reply);
      done();
    });
  }

  /** An answer that was made before there was a request to speak of. */
  readonly unreadable = (status: number, requestId: string): void => {
    this.observe(NONE, NONE, status, 0);
    if (this.log.wants(status)) {
      this.log.write({ requestId, method: NONE, route: NONE, status, durationMs: 0 });
    }
  };

  private answered(request: FastifyRequest, reply: FastifyReply): void {
    const { statusCode: status, elapsedTime: durationMs } = reply;
    const { url: route = NONE } = request.routeOptions;
    const method = USUAL_METHODS.has(request.method) ? request.method : 'other';
    this.observe(route, method, status, durationMs);
    if (!this.log.wants(status)) return;
    const { accountId, keyId } = request.caller ?? {};
    const traceId = traceIdOf(traceparentOf(request));
    this.log.write({ requestId: request.id, traceId, method, route, status, durationMs, accountId, keyId });
  }

  private observe(route: string, method: string, status: number, durationMs: number): void {
    let methods = this.series.get(route);
    if (methods === undefined) this.series.set(route, (methods = new Map<string, Distribution[]>()));
    let statuses = methods.get(method);
    if (statuses === undefined) methods.set(method, (statuses = []));
    const series = (statuses[status] ??= this.addSeries({ method, route, status: String(status) }));
    series.observe(durationMs / 1_000);
  }
}
