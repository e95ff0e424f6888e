import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { Controller, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { Public } from '../access/access.js';
import { Section } from '../openapi/operation.js';
import { html, MEDIA_TYPES, Page, withSecurityHeaders } from './page.js';

/** A static file, read on first use. All responses share its bytes, so slow clients cost no memory. */
class Asset {
  readonly mediaType: string;
  private bytes: Promise<Buffer> | null = null;

  /** @param module the file, as `require` resolves it */
  constructor(private readonly module: string) {
    this.mediaType = MEDIA_TYPES[extname(module)] ?? '';
  }

  read(): Promise<Buffer> {
    return (this.bytes ??= readFile(resolve(this.module)).catch((error: unknown) => {
      this.bytes = null;
      throw error;
    }));
  }
}

const { resolve } = createRequire(import.meta.url);

const FILES = [
  'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-dist/swagger-ui.css',
  './assets/docs.js',
  './assets/docs.css',
  './assets/pages.css',
  './assets/icon.svg',
];
const ASSETS = new Map(FILES.map((module) => [basename(module), new Asset(module)]));

/** Swagger UI, with all its files served from here. */
@Section('Reference')
@Public()
@Controller()
export class DocsController {
  @Page('docs', {
    id: 'readDocs',
    summary: 'Get the interactive documentation',
    description: 'Returns Swagger UI with this document.',
    response: 'A page to browse this document and send requests.',
  })
  docs(@Res({ passthrough: true }) reply: FastifyReply): string {
    const page = html(
      'Sluice API',
      `<div id="swagger-ui"></div>
<noscript><p>This page requires JavaScript. <a href="/openapi.json">Its OpenAPI document</a> does not.</p></noscript>`,
      `<link rel="stylesheet" href="/assets/swagger-ui.css">
<link rel="stylesheet" href="/assets/docs.css">
<script src="/assets/swagger-ui-bundle.js" defer></script>
<script src="/assets/docs.js" defer></script>`,
    );
    return withSecurityHeaders(reply, page);
  }

  @Page('assets/:file', {
    id: 'getAsset',
    summary: 'Get a static file',
    description: 'Returns a style sheet, script or image of the pages.',
    path: { file: { type: 'string', description: 'The name of the file.', enum: [...ASSETS.keys()] } },
    response: 'The file.',
    mediaTypes: [...new Set([...ASSETS.values()].map(({ mediaType }) => mediaType))],
    errors: ['not_found'],
  })
  async asset(@Param('file') file: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    const asset = ASSETS.get(file);
    if (asset === undefined) throw new DomainError('not_found', 'There is no file with this name.');
    return withSecurityHeaders(reply, await asset.read(), asset.mediaType);
  }
}
