import { Controller, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError, type ErrorCode } from '#kernel/domain-error.js';
import { Public } from '../access.js';
import { Section } from '../openapi/operation.js';
import { exampleProblem, isErrorCode, PROBLEMS } from '../problems.js';
import { escaped, forBrowsers, html, Page } from './page.js';

const CODES = (Object.keys(PROBLEMS) as ErrorCode[]).sort((a, b) => PROBLEMS[a].status - PROBLEMS[b].status);

/** The pages to which the `type` of a problem document leads. */
@Section('Reference')
@Public()
@Controller('errors')
export class ErrorPagesController {
  @Page('', { id: 'listErrors', summary: 'Read about all errors', answer: 'A page that lists every error code.' })
  list(@Res({ passthrough: true }) reply: FastifyReply): string {
    const rows = CODES.map((code) => {
      const { status, title } = PROBLEMS[code];
      return `<tr><td>${status}</td><td><a href="/errors/${code}"><code>${code}</code></a></td><td>${escaped(title)}</td></tr>`;
    });
    const page = html(
      'Errors · Sluice',
      `<main>
<h1>Errors</h1>
<p>Every error is a problem document (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>). Its <code>code</code>
is stable and made for programs; its <code>detail</code> says what to do.</p>
<table>
<thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
<p><a href="/docs">Documentation</a></p>
</main>`,
    );
    return forBrowsers(reply, page);
  }

  @Page(':code', {
    id: 'explainError',
    summary: 'Read about an error',
    path: { code: { type: 'string', description: 'The code of the error.', examples: ['validation_failed'] } },
    answer: 'A page that says what happened and what to do.',
    problems: ['not_found'],
  })
  explain(@Param('code') code: string, @Res({ passthrough: true }) reply: FastifyReply): string {
    if (!isErrorCode(code)) throw new DomainError('not_found', 'No error has this code; /errors lists all of them.');
    const { status, title, cause, cure } = PROBLEMS[code];
    const page = html(
      `${code} · Sluice`,
      `<main>
<p class="kind">${status} <code>${code}</code></p>
<h1>${escaped(title)}</h1>
<h2>What happened</h2>
<p>${escaped(cause)}</p>
<h2>What to do</h2>
<p>${escaped(cure)}</p>
<h2>Example</h2>
<pre><code>${escaped(JSON.stringify(exampleProblem(code), null, 2))}</code></pre>
<p><a href="/errors">All errors</a> · <a href="/docs">Documentation</a></p>
</main>`,
    );
    return forBrowsers(reply, page);
  }
}
