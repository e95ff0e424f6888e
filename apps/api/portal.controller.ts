import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Controller, Get, Headers, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { Public } from '#platform/http/access.js';
import { MEDIA_TYPES, withSecurityHeaders } from '#platform/http/pages/page.js';
import { SETTINGS } from '#platform/platform.module.js';
import type { Settings } from '#platform/settings.js';

/** What `vite build` writes. */
const FOLDER = new URL('../../portal/', import.meta.url);
const FILE_NAME = /^[\w-]+\.\w+$/;

interface Asset {
  readonly mediaType: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** The portal: a page for browsers, and the files that it loads. Programs get the same 404 as without a portal. */
@Public()
@Controller()
export class PortalController {
  private readonly assets = new Map<string, Promise<Asset>>();
  private page: Promise<string> | null = null;

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  @Get()
  async index(
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    if (accept?.includes('text/html') !== true) throw notFound();
    this.page ??= this.readPage();
    // Not remembered if it is not built yet.
    const page = await this.page.catch(() => {
      this.page = null;
      throw notFound();
    });
    return withSecurityHeaders(reply, page);
  }

  /** Their names contain a hash of their content, so that they never change. */
  @Get('assets/portal/*')
  async asset(
    @Headers('accept-encoding') encodings: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const { mediaType, plain, gzipped } = await this.readAsset((request.params as { '*': string })['*']);
    const isGzipped = /\bgzip\b/.test(encodings ?? '');
    void reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' });
    if (isGzipped) void reply.header('content-encoding', 'gzip');
    return withSecurityHeaders(reply, isGzipped ? gzipped : plain, mediaType);
  }

  private async readPage(): Promise<string> {
    const page = await readFile(new URL('index.html', FOLDER), 'utf8');
    return page.replace('content="closed"', `content="${this.settings.signup.open ? 'open' : 'closed'}"`);
  }

  private async readAsset(name: string): Promise<Asset> {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined || !FILE_NAME.test(name)) throw notFound();
    let asset = this.assets.get(name);
    if (asset === undefined) {
      asset = load(name, mediaType);
      this.assets.set(name, asset);
      // What does not exist is not remembered.
      asset.catch(() => this.assets.delete(name));
    }
    return asset;
  }
}

async function load(name: string, mediaType: string): Promise<Asset> {
  const file = fileURLToPath(new URL(`assets/portal/${basename(name)}`, FOLDER));
  const plain = await readFile(file).catch(() => {
    throw notFound();
  });
  return { mediaType, plain, gzipped: await promisify(gzip)(plain) };
}

function notFound(): DomainError {
  return new DomainError('not_found', 'There is no resource at this path.');
}
