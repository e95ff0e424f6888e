import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { rawProblem } from '#platform/http/edge/raw-problem.js';
import { requestId } from '#platform/http/edge/request-id.js';
import { BuiltPage } from './built-page.js';

/** The routes of the API that the page calls. */
const ROUTES = '/admin/';

const CLOSED = new DomainError('unavailable', 'The process is starting or stopping. Retry later.');

/**
 * Serves operators with a browser on the management port: the page, its files, and the operators' routes of the API, so
 * that the page needs no other origin. The management port handles connections and invalid HTTP; the API handles the
 * requests for its routes.
 */
export class OperatorsSite {
  private readonly page = new BuiltPage('operators');
  private readonly responses = new Set<ServerResponse>();
  private api: FastifyInstance | null = null;

  /** From now on, requests for the operators' routes are handled; until then they get 503. */
  open(api: FastifyInstance): void {
    this.api = api;
  }

  /** From now on, they get 503 again. Resolves when those in progress have their responses, or after `graceMs` milliseconds. */
  async close(graceMs: number): Promise<void> {
    this.api = null;
    const closed = [...this.responses].map((response) => new Promise((resolve) => response.once('close', resolve)));
    await Promise.race([Promise.all(closed), sleep(graceMs, undefined, { ref: false })]);
  }

  mount(server: FastifyInstance): void {
    // Before the body is read, which is left to the API. The API routes by the target as it was sent.
    server.addHook('onRequest', (request, reply, done) => {
      if (request.originalUrl.startsWith(ROUTES)) this.forward(request, reply);
      else done();
    });
    server.get('/', (request, reply) => orNotFound(reply, this.page.page(request, reply)));
    server.get('/assets/portal/*', (request, reply) => orNotFound(reply, this.page.asset(request, reply)));
  }

  private forward(request: FastifyRequest, reply: FastifyReply): void {
    if (this.api === null) {
      const { status, headers, body } = rawProblem(CLOSED, [], requestId(request.headers['x-request-id']), true);
      void reply.code(status).headers(headers).send(body);
      return;
    }
    reply.hijack();
    request.raw.url = request.originalUrl;
    this.responses.add(reply.raw);
    reply.raw.once('close', () => this.responses.delete(reply.raw));
    // Links to the portal begin with the host of the request, and the portal is on the port of the API only.
    const { port } = this.api.server.address() as AddressInfo;
    request.raw.headers.host = request.raw.headers.host?.replace(/(:\d+)?$/, `:${port}`);
    this.api.routing(request.raw, reply.raw);
  }
}

async function orNotFound(reply: FastifyReply, content: Promise<string | Buffer | null>): Promise<unknown> {
  const found = await content;
  if (found !== null) return reply.header('x-content-type-options', 'nosniff').send(found);
  reply.callNotFound();
  return reply;
}
