import { applyDecorators, Get } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Operation, type HeaderSpec, type OperationSpec } from '../openapi/operation.js';

/** What a browser may do with a page: load files of this server, and nothing from anywhere else or written into it. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

const DESCRIBED: Readonly<Record<string, HeaderSpec>> = Object.fromEntries(
  Object.entries(SECURITY_HEADERS).map(([name, value]) => [
    name,
    { description: 'Keeps the page to itself.', schema: { type: 'string', const: value }, required: true },
  ]),
);

const STYLE = '<link rel="stylesheet" href="/assets/pages.css">';

type PageSpec = Omit<OperationSpec, 'answer'> & { readonly answer: string; readonly mediaTypes?: readonly string[] };

/** A GET route for browsers, which answers with what `forBrowsers` makes. */
export function Page(path: string, { answer, mediaTypes = ['text/html'], ...spec }: PageSpec): MethodDecorator {
  const body = { type: 'string', examples: ['…'] };
  return applyDecorators(
    Get(path),
    Operation({ ...spec, answer: { description: answer, body, mediaTypes, headers: DESCRIBED } }),
  );
}

/** A content with the headers that keep others out of it. They are set last, because an error has none of them. */
export function forBrowsers<Content extends string | Buffer>(
  reply: FastifyReply,
  content: Content,
  mediaType = 'text/html',
): Content {
  void reply.headers({ ...SECURITY_HEADERS, 'Content-Type': `${mediaType}; charset=utf-8` });
  return content;
}

/** A whole page. @param head the elements that load what it needs */
export function html(title: string, body: string, head = STYLE): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
