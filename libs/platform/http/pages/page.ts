import { applyDecorators, Get } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { header, Operation, type HeaderSpec, type OperationSpec } from '../openapi/operation.js';

/** A page may load files from this server, but nothing from elsewhere and no inline scripts or styles. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

/** The media types of the files that pages load, by extension. */
export const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

const DOCUMENTED_HEADERS: Readonly<Record<string, HeaderSpec>> = Object.fromEntries(
  Object.entries(SECURITY_HEADERS).map(([name, value]) => [
    name,
    header('Isolates the page from other sites.', { type: 'string', const: value }),
  ]),
);

/** Every page has the style, and the same header as the others. */
const STYLE = '<link rel="stylesheet" href="/assets/pages.css">';
const HEADER = `<header class="site">
<img src="/assets/icon.svg" alt="" width="24" height="24"><strong>Sluice</strong>
<a href="/docs">API reference</a> <a href="/errors">Errors</a>
</header>`;

type PageSpec = Omit<OperationSpec, 'response'> & {
  readonly response: string;
  readonly mediaTypes?: readonly string[];
};

/** A GET route that responds with the result of `withSecurityHeaders`. */
export function Page(path: string, { response, mediaTypes = ['text/html'], ...spec }: PageSpec): MethodDecorator {
  const body = { type: 'string', examples: ['…'] };
  return applyDecorators(
    Get(path),
    Operation({ ...spec, response: { description: response, body, mediaTypes, headers: DOCUMENTED_HEADERS } }),
  );
}

/** Called last in a handler, because errors must not have these headers. */
export function withSecurityHeaders<Content extends string | Buffer>(
  reply: FastifyReply,
  content: Content,
  mediaType = 'text/html',
): Content {
  void reply.headers({ ...SECURITY_HEADERS, 'Content-Type': `${mediaType}; charset=utf-8` });
  return content;
}

/** Lets pages of these origins embed one that has the headers above. */
export function allowFrames(reply: FastifyReply, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const policy = String(reply.getHeader('content-security-policy'));
  void reply
    .removeHeader('x-frame-options')
    .header(
      'content-security-policy',
      policy.replace("frame-ancestors 'none'", `frame-ancestors ${origins.join(' ')}`),
    );
}

/** @param head the elements that load styles and scripts */
export function html(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
${STYLE}
${head}
</head>
<body>
${HEADER}
${body}
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
