import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Controller, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { Public } from '../access.js';
import { Section } from '../openapi/operation.js';
import { DOCS_SCRIPT, ICON, PAGES_STYLE } from './assets.js';
import { forBrowsers, html, Page } from './page.js';

/** A file, read when it is first asked for. All who are sent it share its bytes, however slowly they take them. */
class Asset {
  private bytes: Promise<Buffer> | null = null;

  constructor(
    readonly mediaType: string,
    private readonly load: () => Promise<Buffer>,
  ) {}

  read(): Promise<Buffer> {
    return (this.bytes ??= this.load());
  }
}

const { resolve } = createRequire(import.meta.url);
const ofSwaggerUi = (file: string) => () => readFile(resolve(`swagger-ui-dist/${file}`));
const ours = (text: string) => () => Promise.resolve(Buffer.from(text));

const ASSETS = new Map<string, Asset>([
  ['swagger-ui-bundle.js', new Asset('text/javascript', ofSwaggerUi('swagger-ui-bundle.js'))],
  ['swagger-ui.css', new Asset('text/css', ofSwaggerUi('swagger-ui.css'))],
  ['docs.js', new Asset('text/javascript', ours(DOCS_SCRIPT))],
  ['pages.css', new Asset('text/css', ours(PAGES_STYLE))],
  ['icon.svg', new Asset('image/svg+xml', ours(ICON))],
]);

/** The interactive page: Swagger UI, with all that it needs from this server. */
@Section('Reference')
@Public()
@Controller()
export class DocsController {
  @Page('docs', {
    id: 'readDocs',
    summary: 'Read and try this API',
    answer: 'An interactive page about this document.',
  })
  docs(@Res({ passthrough: true }) reply: FastifyReply): string {
    const page = html(
      'Sluice API',
      `<div id="swagger-ui"></div>
<noscript><p>This page needs JavaScript. <a href="/openapi.json">The document</a> that it shows does not.</p></noscript>`,
      `<link rel="stylesheet" href="/assets/swagger-ui.css">
<script src="/assets/swagger-ui-bundle.js" defer></script>
<script src="/assets/docs.js" defer></script>`,
    );
    return forBrowsers(reply, page);
  }

  @Page('assets/:file', {
    id: 'getAsset',
    summary: 'Get a file of a page',
    path: { file: { type: 'string', description: 'Its name.', enum: [...ASSETS.keys()] } },
    answer: 'The file.',
    mediaTypes: [...new Set([...ASSETS.values()].map(({ mediaType }) => mediaType))],
    problems: ['not_found'],
  })
  async asset(@Param('file') file: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    const asset = ASSETS.get(file);
    if (asset === undefined) throw new DomainError('not_found', 'No file has this name.');
    return forBrowsers(reply, await asset.read(), asset.mediaType);
  }
}
