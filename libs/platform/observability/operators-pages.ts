import {
  fastify,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { OperatorKeys } from '../http/access/secret.js';

/** Creates a plugin that serves the pages under a path. */
export type OpenPages = (basePath: string) => Promise<FastifyPluginCallback>;

/** The response 404 of the management port. */
export const NOTHING_HERE = { error: 'There is no resource at this path.' };

/** Only scripts, styles and images of this origin. */
const OWN_RESOURCES_ONLY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Pages that require the key of an operator, opened at the first request. A browser sends the key by HTTP Basic, as the
 * password of any user; a program may send it as a bearer token.
 */
export class OperatorsPages {
  private open: OpenPages | null = null;
  private opened: Promise<FastifyInstance> | null = null;

  constructor(
    private readonly path: string,
    private readonly operators: OperatorKeys,
  ) {}

  /** From now on these pages are served; until then a request gets 503. */
  serve(open: OpenPages): void {
    this.open = open;
  }

  mount(server: FastifyInstance): void {
    for (const url of [this.path, `${this.path}/*`]) {
      server.get(url, (request, reply) => this.respond(request, reply));
    }
  }

  async close(): Promise<void> {
    await (await this.opened)?.close();
  }

  private async respond(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    if (this.operators.nameOf(presented(request.headers.authorization ?? '')) === undefined) {
      void reply.code(401).header('www-authenticate', 'Basic realm="Sluice operators", charset="UTF-8"');
      return { error: "Send the operators' key, as the password of any user or as a bearer token." };
    }
    if (this.open === null) return reply.code(503).send({ error: 'The process is still starting.' });
    this.opened ??= this.start(this.open).catch((error: unknown) => {
      this.opened = null;
      throw error;
    });
    const pages = await this.opened;
    reply.raw.setHeader('Cache-Control', 'no-store');
    reply.raw.setHeader('Content-Security-Policy', OWN_RESOURCES_ONLY);
    reply.raw.setHeader('X-Content-Type-Options', 'nosniff');
    reply.hijack();
    pages.routing(request.raw, reply.raw);
    return reply;
  }

  // A Fastify server accepts no routes after it has started, so the pages get one of their own.
  private async start(open: OpenPages): Promise<FastifyInstance> {
    const nothing = (reply: FastifyReply) => {
      void reply.code(404).send(NOTHING_HERE);
    };
    const pages = fastify({
      frameworkErrors: (_error, _request, reply) => {
        nothing(reply);
      },
    });
    pages.setNotFoundHandler((_request, reply) => {
      nothing(reply);
    });
    await pages.register(await open(this.path), { prefix: this.path });
    await pages.ready();
    return pages;
  }
}

function presented(authorization: string): string {
  const [, scheme = '', credentials = ''] = /^(basic|bearer) ([!-~]+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'basic') return credentials;
  return Buffer.from(credentials, 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
}
