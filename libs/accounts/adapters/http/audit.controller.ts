import { Controller, Get, Query } from '@nestjs/common';
import type { FieldError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import { ForOperators } from '#platform/http/access/access.js';
import { pageModel, pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import { idOf, nullable, time, viewModel } from '#platform/http/openapi/schema.js';
import { Audit, type AuditEntry, type AuditPage } from '../../application/audit.js';
import { ACCOUNT_ID } from './views.js';

const STATE = { type: 'object', additionalProperties: true };

const ENTRY = viewModel<AuditEntry>('AuditEntry', 'A change by an operator.', {
  id: idOf('audit', 'The id of the entry.'),
  at: time('When it was changed.'),
  operator: { type: 'string', description: 'The name of the key that was used.', examples: ['alice'] },
  action: { type: 'string', description: 'What happened.', examples: ['plan.changed'] },
  subject: {
    type: 'string',
    description: 'What it happened to: the name of a plan, or the id of an account or a key.',
    examples: ['gold'],
  },
  accountId: nullable({ ...ACCOUNT_ID, description: 'The account that it concerns. Null for plans.' }),
  before: nullable({
    ...STATE,
    description: 'The fields that were changed or deleted, as they were. Null for something new.',
    examples: [{ maxEndpoints: null }],
  }),
  after: nullable({
    ...STATE,
    description: 'The same fields as they are now. Null for something deleted.',
    examples: [{ maxEndpoints: 20 }],
  }),
});

@Section('Operators')
@ForOperators()
@Controller('admin/audit')
export class AuditController {
  constructor(private readonly audit: Audit) {}

  @Get()
  @Operation({
    id: 'listAudit',
    summary: 'List changes by operators',
    description:
      'Returns what operators have changed: who, when, what, and the fields before and after. Entries contain no secrets ' +
      'and are never removed.',
    query: { ...PAGING, accountId: { ...ACCOUNT_ID, description: 'Only changes that concern this account.' } },
    response: { description: 'A page of entries.', body: pageModel(ENTRY) },
  })
  async list(@Query() query: Record<string, unknown>): Promise<PageView<AuditEntry>> {
    const find = (page: AuditPage) => this.audit.list(page);
    return pageOf(
      readPage(query, 'audit', readFilter),
      find,
      ({ id }) => id,
      (entry) => entry,
    );
  }
}

function readFilter({ accountId }: Record<string, unknown>, errors: FieldError[]): Pick<AuditPage, 'accountId'> {
  if (accountId === undefined) return { accountId: null };
  if (typeof accountId === 'string' && isTypeId('acct', accountId)) return { accountId };
  errors.push({ pointer: '', detail: 'accountId must be the id of an account.' });
  return { accountId: null };
}
