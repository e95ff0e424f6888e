import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MEDIA_TYPES, withSecurityHeaders } from '#platform/http/pages/page.js';

/** An `Accept` that a page fits. */
const PAGE = /text\/html|text\/\*|\*\/\*/;
/** What `vite build` writes. */
const FOLDER = new URL('../../portal/', import.meta.url);
/** The files that a page loads: all are named in it. */
const FILES = /"\/assets\/portal\/([\w.-]+)"/g;

interface Asset {
  readonly mediaType: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

interface Built {
  readonly html: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** A page that Vite has built, with the files that it loads. */
export class BuiltPage {
  private built: Promise<Built> | null = null;

  /** @param change of the page, before it is sent */
  constructor(
    private readonly name: 'index' | 'operators',
    private readonly change: (html: string) => string = (html) => html,
  ) {}

  /** @returns null for programs that want no page, and as long as it is not built */
  async page({ headers }: FastifyRequest, reply: FastifyReply): Promise<string | null> {
    if (!PAGE.test(headers.accept ?? '*/*')) return null;
    const built = await this.read();
    return built === null ? null : withSecurityHeaders(reply, built.html);
  }

  /** A file that the page loads. Its name contains a hash of its content, so that it never changes. */
  async asset({ params, headers }: FastifyRequest, reply: FastifyReply): Promise<Buffer | null> {
    const asset = (await this.read())?.assets.get((params as { '*': string })['*']);
    if (asset === undefined) return null;
    const isGzipped = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(headers['accept-encoding'] ?? '');
    void reply.header('cache-control', 'public, max-age=31536000, immutable');
    reply.raw.appendHeader('Vary', 'Accept-Encoding');
    if (isGzipped) void reply.header('content-encoding', 'gzip');
    return withSecurityHeaders(reply, isGzipped ? asset.gzipped : asset.plain, asset.mediaType);
  }

  private read(): Promise<Built | null> {
    const built = (this.built ??= this.load());
    return built.catch(() => {
      // Not remembered if it is not built yet.
      if (this.built === built) this.built = null;
      return null;
    });
  }

  private async load(): Promise<Built> {
    const html = this.change(await readFile(new URL(`${this.name}.html`, FOLDER), 'utf8'));
    const names = [...html.matchAll(FILES)].map(([, name = '']) => name);
    return {
      html,
      assets: new Map(await Promise.all(names.map(async (name) => [name, await loadAsset(name)] as const))),
    };
  }
}

async function loadAsset(name: string): Promise<Asset> {
  const plain = await readFile(new URL(`assets/portal/${name}`, FOLDER));
  return { mediaType: MEDIA_TYPES[extname(name)] ?? '', plain, gzipped: await promisify(gzip)(plain) };
}
