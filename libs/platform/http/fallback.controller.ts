import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { Public } from './access/access.js';
import { isForServer, routedTarget } from './edge/request-form.js';
import { FALLBACK, RouteTable } from './route-table.js';

/** Handles what no route matches: 404 for an unknown path, 405 for an unknown method, and OPTIONS. */
@Public()
@Controller()
export class FallbackController {
  constructor(private readonly routes: RouteTable) {}

  @All(FALLBACK)
  handle(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): void {
    const target = routedTarget({ url: request.originalUrl });
    const allowed = isForServer(request.method, request.originalUrl)
      ? this.routes.allMethods()
      : this.routes.methodsFor(target);
    if (allowed.length === 0 && !isPreflight(reply))
      throw new DomainError('not_found', 'There is no resource at this path.');
    void reply.header('allow', [...allowed, 'OPTIONS'].join(', '));
    if (request.method !== 'OPTIONS') {
      throw new DomainError('method_not_allowed', `This path supports ${allowed.join(', ')} and OPTIONS.`);
    }
    void reply.status(204);
  }
}

/** Of an allowed origin. Unless its preflight succeeds, a script cannot read that there is nothing at a path. */
const isPreflight = ({ raw }: FastifyReply) => raw.hasHeader('access-control-allow-methods');
