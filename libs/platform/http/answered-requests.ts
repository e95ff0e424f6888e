import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Distribution } from '../management/distribution.js';
import type { Metrics } from '../management/metrics.js';
import type { AccessLog, Status } from './access-log.js';
import { givenUp } from './edge.js';
import type { Refusal } from './gate.js';
import { PROBLEMS } from './problems.js';
import type { RouteTable } from './route-table.js';
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
    private readonly routes: RouteTable,
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

  /** An answer that was made before the request was routed. */
  readonly refused = (request: IncomingMessage, { error, caller }: Refusal, requestId: string): void => {
    const { status } = PROBLEMS[error.code];
    if (error.code === 'unavailable') {
      this.observe(NONE, NONE, status, 0);
      this.log.overloaded();
      return;
    }
    const { method: verb = '', url = '' } = request;
    const method = USUAL_METHODS.has(verb) ? verb : 'other';
    const route = this.routes.exactPath(url, verb) ?? NONE;
    this.observe(route, method, status, 0);
    if (!this.log.wants(status)) return;
    const { accountId, keyId } = caller ?? {};
    this.log.write({ requestId, method, route, status, durationMs: 0, accountId, keyId });
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
