import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Distribution } from '../management/distribution.js';
import type { Metrics } from '../management/metrics.js';
import type { AccessLog, Status } from './access-log.js';
import { givenUp } from './edge.js';
import { PROBLEMS } from './problems.js';
import { traceparentOf } from './traceparent.js';
import { traceIdOf } from '../tracing/traceparent.js';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** What could not be read has neither a method nor a route. */
const NONE = 'none';
/** Where no route takes a request, any method may come. */
const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts, times and logs each request once: when its answer has been written, or its connection is lost. */
export class AnsweredRequests {
  private readonly addSeries;
  /** By route, method and status. */
  private readonly series = new Map<string, Map<string, Map<Status, Distribution>>>();

  constructor(
    metrics: Metrics,
    private readonly log: AccessLog,
  ) {
    this.addSeries = metrics.histograms(
      'sluice_http_request_duration_seconds',
      'Requests by route and status, from the end of their headers until their answer was written or their connection lost',
      SECONDS,
    );
  }

  /** Must be told of each request at the end of its headers. */
  readonly watch = (request: FastifyRequest, reply: FastifyReply): void => {
    const arrivedAt = performance.now();
    let finished = false;
    reply.raw.on('finish', () => {
      finished = true;
    });
    // Unlike Fastify's hooks, this comes also when the caller has gone.
    reply.raw.on('close', () => {
      // What was refused at its connection has been told of as unreadable.
      if (!finished && givenUp.has(request.raw.socket)) return;
      this.over(request, finished ? reply.statusCode : 'aborted', performance.now() - arrivedAt);
    });
  };

  /** An answer that was made before there was a request to speak of. */
  readonly unreadable = (status: number, requestId: string): void => {
    this.observe(NONE, NONE, status, 0);
    if (this.log.wants(status)) {
      this.log.write({ requestId, method: NONE, route: NONE, status, durationMs: 0 });
    }
  };

  /** An answer that was made without looking at the request, since there is too much to do. */
  readonly refusedForLoad = (): void => {
    this.observe(NONE, NONE, PROBLEMS.unavailable.status, 0);
    this.log.overloaded();
  };

  private over(request: FastifyRequest, status: Status, durationMs: number): void {
    const { url: route = NONE } = request.routeOptions;
    const method = USUAL_METHODS.has(request.method) ? request.method : 'other';
    this.observe(route, method, status, durationMs);
    if (!this.log.wants(status)) return;
    const { accountId, keyId } = request.caller ?? {};
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
