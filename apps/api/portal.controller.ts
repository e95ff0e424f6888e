import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { Public } from '#platform/http/access/access.js';
import { allowFrames } from '#platform/http/pages/page.js';
import { SETTINGS } from '#platform/process/platform.module.js';
import { BuiltPage } from './built-page.js';
import type { Settings } from '../settings.js';

/** The portal: a page, and the files that it loads. Programs that accept no page get 404, as without a portal. */
@Public()
@Controller()
export class PortalController {
  private readonly portal: BuiltPage;
  private readonly frameAncestors: readonly string[];

  constructor(@Inject(SETTINGS) { signup, portalFrameAncestors }: Settings) {
    this.frameAncestors = portalFrameAncestors;
    this.portal = new BuiltPage('index', (html) =>
      html.replace('content="closed"', `content="${signup.open ? 'open' : 'closed'}"`),
    );
  }

  @Get()
  async index(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const page = (await this.portal.page(request, reply)) ?? notFound();
    allowFrames(reply, this.frameAncestors);
    return page;
  }

  @Get('assets/portal/*')
  async asset(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    return (await this.portal.asset(request, reply)) ?? notFound();
  }
}

function notFound(): never {
  throw new DomainError('not_found', 'There is no resource at this path.');
}
