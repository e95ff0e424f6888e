import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BuiltPage } from './built-page.js';

/** The routes of the API that the page calls. */
const ROUTES = '/admin/';

/**
 * What the management port has for operators with a browser: the page, its files, and the operators' routes of the API, so
 * that the page needs no other origin. Requests for those routes are handled by the API itself, with all of its rules.
 */
export class OperatorsSite {
  private readonly page = new BuiltPage('operators');
  private api: FastifyInstance | null = null;

  /** From now on, requests for the operators' routes are handled; until then they get 503. */
  open(api: FastifyInstance): void {
    this.api = api;
  }

  mount(server: FastifyInstance): void {
    // Before the body is read, which is left to the API. The API routes by the target as it was sent.
    server.addHook('onRequest', (request, reply, done) => {
      if (request.raw.url?.startsWith(ROUTES) === true) this.forward(request, reply);
      else done();
    });
    server.get('/', (request, reply) => orNotFound(reply, this.page.page(request, reply)));
    server.get('/assets/portal/*', (request, reply) => orNotFound(reply, this.page.asset(request, reply)));
  }

  private forward(request: FastifyRequest, reply: FastifyReply): void {
    if (this.api === null) {
      void reply.code(503).send({ error: 'The process is still starting.' });
      return;
    }
    reply.hijack();
    this.api.routing(request.raw, reply.raw);
  }
}

async function orNotFound(reply: FastifyReply, content: Promise<string | Buffer | null>): Promise<unknown> {
  const found = await content;
  if (found !== null) return reply.header('x-content-type-options', 'nosniff').send(found);
  reply.callNotFound();
  return reply;
}
