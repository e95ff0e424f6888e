import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { QueuePages } from '#messages/messages.module.js';
import { AccessLog } from '#platform/http/access-log.js';
import { AddressBudget } from '#platform/http/address-budget.js';
import { AnsweredRequests } from '#platform/http/answered-requests.js';
import { createEdge } from '#platform/http/edge.js';
import { Gate } from '#platform/http/gate.js';
import { refuseUnderLoad } from '#platform/http/overload.js';
import { RouteTable } from '#platform/http/route-table.js';
import { gracefulShutdown } from '#platform/http/shutdown.js';
import { NestLogger, type Logger } from '#platform/logging.js';
import type { Metrics } from '#platform/management/metrics.js';
import type { Settings } from '#platform/settings.js';
import { openParts } from '../context.js';
import { managed, type Managed } from '#platform/process/managed.js';
import { ApiModule } from './api.module.js';

const MINUTE_SECONDS = 60;
const OPERATORS_PER_MINUTE = 6_000;
/** Connections that may come at the same moment. Of more, clients would notice some only by their own repetitions. */
const BACKLOG = 4_096;

export interface Api extends Managed {
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Answers what runs, stores what was accepted, closes. */
  stop(): Promise<void>;
}

/**
 * Starts the HTTP process.
 * @param migrate where the schema of the database is not up to date
 */
export function startApi(settings: Settings, logger: Logger, migrate?: () => Promise<void>): Promise<Api> {
  return managed(settings, logger, (metrics) => listen(settings, logger, metrics), migrate);
}

async function listen(settings: Settings, logger: Logger, metrics: Metrics) {
  const budgets = {
    strangers: new AddressBudget('minute', settings.anonymousPerMinute, MINUTE_SECONDS),
    operators: new AddressBudget('minute', OPERATORS_PER_MINUTE, MINUTE_SECONDS),
  };
  const parts = await openParts(settings, logger, 'api', metrics);
  const routes = new RouteTable();
  const answered = new AnsweredRequests(metrics, new AccessLog(logger, settings.accessLogSample), routes);
  const gate = new Gate();
  gate.add(refuseUnderLoad(budgets.strangers, () => parts.backpressure.isTooHigh));
  const edge = createEdge({
    ...settings.http,
    strangers: budgets.strangers,
    routes,
    tracing: parts.tracing,
    watch: answered.watch,
    unreadable: answered.unreadable,
    gate,
    refused: answered.refused,
  });
  const fastify = edge.getInstance<FastifyInstance>();
  const stopHttp = gracefulShutdown(fastify, settings.shutdownGraceMs);
  const app = await NestFactory.create<NestFastifyApplication>(ApiModule.of(parts, routes, budgets, gate), edge, {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  try {
    const { port, host } = settings.http;
    await app.listen({ port, host, backlog: BACKLOG });
  } catch (error) {
    await app.close();
    throw error;
  }
  return {
    url: (await app.getUrl()).replace('[::]', '127.0.0.1').replace('0.0.0.0', '127.0.0.1'),
    queuePages: (basePath: string) => app.get(QueuePages).open(basePath),
    stop: async () => {
      await stopHttp();
      await app.close();
    },
  };
}
