import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { Activity } from '#kernel/activity.js';
import { ClockWatch, CurrentQueue, JobQueue, openQueuePages, QueueConnection } from '#delivery/queue.module.js';
import { EventStreams } from '#events/events.module.js';
import { AccessLog } from '#platform/http/edge/access-log.js';
import { AddressBudget } from '#platform/http/access/address-budget.js';
import { corsHeaders } from '#platform/http/edge/cors.js';
import { createEdge } from '#platform/http/edge/edge.js';
import { addRequestHooks, EarlyCheck } from '#platform/http/edge/request-hooks.js';
import { RequestMetrics } from '#platform/http/edge/request-metrics.js';
import { RouteTable } from '#platform/http/route-table.js';
import { gracefulShutdown } from '#platform/http/edge/graceful-shutdown.js';
import { NestLogger, type Logger } from '#platform/observability/logging.js';
import type { Metrics } from '#platform/observability/metrics.js';
import { addErrors } from '#platform/http/problems.js';
import { WaitingLeases } from '#pull/pull.module.js';
import { Background } from '../background.js';
import { openParts } from '../context.js';
import type { Settings } from '../settings.js';
import { startManaged, type ManagedProcess } from '#platform/process/managed-process.js';
import { connectionsWithin } from '#platform/process/open-files.js';
import { ApiModule } from './api.module.js';
import { ERRORS } from './errors.js';
import { OperatorsSite } from './operators-site.js';

const MINUTE_SECONDS = 60;
const OPERATORS_PER_MINUTE = 6_000;
/** Connections that may wait to be accepted. The system drops more silently, and clients retry after a second. */
const BACKLOG = 4_096;

export interface Api extends ManagedProcess {
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Finishes requests in progress, stores what was accepted, closes. */
  stop(): Promise<void>;
}

/**
 * Starts the HTTP process.
 * @param migrate migrates the schema, if that is not done already
 */
export function startApi(settings: Settings, logger: Logger, migrate?: () => Promise<void>): Promise<Api> {
  addErrors(ERRORS);
  const site = settings.portal && settings.operatorKeys.length > 0 ? new OperatorsSite() : null;
  const start = (metrics: Metrics) => listen(settings, logger, metrics, site);
  return startManaged(settings, logger, start, migrate, (server) => site?.mount(server));
}

async function listen(settings: Settings, logger: Logger, metrics: Metrics, site: OperatorsSite | null) {
  const budgets = {
    anonymous: new AddressBudget('minute', settings.anonymousPerMinute, MINUTE_SECONDS),
    operators: new AddressBudget('minute', OPERATORS_PER_MINUTE, MINUTE_SECONDS),
  };
  const parts = await openParts(settings, logger, 'api', metrics);
  const routes = new RouteTable();
  const shared = {
    anonymous: budgets.anonymous,
    metrics: new RequestMetrics(metrics, new AccessLog(logger, settings.accessLogSample)),
  };
  const maxConnections = connectionsWithin(settings.http.maxConnections);
  if (maxConnections < settings.http.maxConnections) {
    logger.warn({ maxConnections }, 'fewer connections than MAX_CONNECTIONS: the limit of open files is too low');
  }
  const edge = createEdge({ ...settings.http, ...shared, maxConnections, routes });
  const fastify = edge.getInstance<FastifyInstance>();
  const stopHttp = gracefulShutdown(fastify, settings.shutdownGraceMs);
  const app = await NestFactory.create<NestFastifyApplication>(ApiModule.of(parts, routes, budgets), edge, {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  addRequestHooks(fastify, {
    ...shared,
    tracing: parts.tracing,
    cors: corsHeaders(settings.http.corsOrigins),
    isOverloaded: () => parts.backpressure.isTooHigh,
    earlyCheck: app.get(EarlyCheck),
    maxBufferedBytes: settings.http.maxBufferedBytes,
    gauges: metrics,
    logger,
  });
  const activity = app.get(Activity);
  fastify.addHook('onRequest', ({ method, url }, _reply, done) => {
    // Reading makes no work, and a lease only if it gets something.
    if (method !== 'GET' && method !== 'HEAD' && !url.startsWith('/messages/lease')) activity.note();
    done();
  });
  const background = new Background(app, settings, 'api');
  try {
    await background.start();
    const { port, host } = settings.http;
    await app.listen({ port, host, backlog: BACKLOG });
  } catch (error) {
    await background.stop();
    await app.close();
    throw error;
  }
  site?.open(fastify);
  return {
    url: (await app.getUrl()).replace('[::]', '127.0.0.1').replace('0.0.0.0', '127.0.0.1'),
    queuePages: (basePath: string) => openQueuePages(app.get(QueueConnection), basePath),
    isClockRight: () => app.get(ClockWatch).isRight,
    isRedisUp: () => app.get(JobQueue).isUp,
    isQueueCurrent: () => app.get(CurrentQueue).isCurrent,
    stop: async () => {
      app.get(WaitingLeases).close();
      app.get(EventStreams).closeAll();
      await Promise.all([stopHttp(), site?.close(settings.shutdownGraceMs)]);
      await app.get(EventStreams).stop();
      await background.stop();
      await app.close();
    },
  };
}
