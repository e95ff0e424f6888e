import { Controller, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { Public } from '../access/access.js';
import { Section } from '../openapi/operation.js';
import { errorCodes, errorKind, exampleProblem, findErrorKind } from '../problems.js';
import { escapeHtml, html, Page, withSecurityHeaders } from './page.js';

/** The pages that the `type` of problem documents links to. */
@Section('Reference')
@Public()
@Controller('errors')
export class ErrorPagesController {
  @Page('', {
    id: 'listErrors',
    summary: 'List all errors',
    description: 'Returns a page for people. `ErrorCode` lists the codes for programs.',
    response: 'A page that lists all error codes.',
  })
  list(@Res({ passthrough: true }) reply: FastifyReply): string {
    const codes = errorCodes().sort((a, b) => errorKind(a).status - errorKind(b).status);
    const rows = codes.map((code) => {
      const { status, title } = errorKind(code);
      const link = `<a href="/errors/${code}"><code>${code.replaceAll('_', '_<wbr>')}</code></a>`;
      return `<tr><td>${status}</td><td>${link}</td><td>${escapeHtml(title)}</td></tr>`;
    });
    const page = html(
      'Errors · Sluice',
      `<main>
<h1>Errors</h1>
<p>Every error is a problem document (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>). Its <code>code</code>
is stable and machine-readable; its <code>detail</code> explains the error to people.</p>
<table>
<thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
<p><a href="/docs">Documentation</a></p>
</main>`,
    );
    return withSecurityHeaders(reply, page);
  }

  @Page(':code', {
    id: 'explainError',
    summary: 'Get the explanation of an error',
    description: 'The `type` of each error leads here.',
    path: { code: { type: 'string', description: 'The error code.', examples: ['validation_failed'] } },
    response: 'A page that explains the cause of the error and how to fix it.',
    errors: ['not_found'],
  })
  explain(@Param('code') code: string, @Res({ passthrough: true }) reply: FastifyReply): string {
    const kind = findErrorKind(code);
    if (kind === undefined)
      throw new DomainError('not_found', 'There is no error with this code. All codes are listed at /errors.');
    const { status, title, cause, cure } = kind;
    const page = html(
      `${code} · Sluice`,
      `<main>
<p class="kind">${status} <code>${code}</code></p>
<h1>${escapeHtml(title)}</h1>
<h2>What happened</h2>
<p>${escapeHtml(cause)}</p>
<h2>What to do</h2>
<p>${escapeHtml(cure)}</p>
<h2>Example</h2>
<pre><code>${escapeHtml(JSON.stringify(exampleProblem(code), null, 2))}</code></pre>
<p><a href="/errors">All errors</a> · <a href="/docs">Documentation</a></p>
</main>`,
    );
    return withSecurityHeaders(reply, page);
  }
}
