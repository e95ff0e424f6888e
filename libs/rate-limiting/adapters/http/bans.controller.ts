import { Controller, Delete, Get, HttpCode, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Audit } from '#accounts/index.js';
import type { FieldError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import { ForOperators } from '#platform/http/access/access.js';
import { CurrentOperator } from '#platform/http/access/caller.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import { idOf, time, viewModel } from '#platform/http/openapi/schema.js';
import { pageModel, pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { Bans, type Ban, type BanPage } from '../../application/bans.js';

const KEY_ID = idOf('key', 'The id of the banned key.');

const ACCOUNT_ID = idOf('acct', 'The account of the key.');

const BAN = viewModel<Ban>('Ban', 'A temporary ban of an API key.', {
  keyId: KEY_ID,
  accountId: ACCOUNT_ID,
  reason: {
    type: 'string',
    description: 'Why the key was banned.',
    examples: ['30 requests within a minute after the limit was exceeded'],
  },
  bannedAt: time('When the ban started.'),
  bannedUntil: time('When the ban ends.', '2026-11-21T09:31:00.123Z'),
});

@Section('Operators')
@ForOperators()
@Controller('admin/bans')
export class BansController {
  constructor(
    private readonly bans: Bans,
    private readonly audit: Audit,
    private readonly repeats: Repeats,
  ) {}

  @Get()
  @Operation({
    id: 'listBans',
    summary: 'List bans',
    description: 'Returns the active bans.',
    query: { ...PAGING, accountId: { ...ACCOUNT_ID, description: 'Only bans of keys of this account.' } },
    response: { description: 'A page of bans.', body: pageModel(BAN) },
  })
  async list(@Query() query: Record<string, unknown>): Promise<PageView<Ban>> {
    const find = (page: BanPage) => this.bans.list(page);
    return pageOf(
      readPage(query, 'key', readFilter),
      find,
      ({ keyId }) => keyId,
      (ban) => ban,
    );
  }

  @Delete(':keyId')
  @HttpCode(204)
  @Operation({
    id: 'liftBan',
    summary: 'Lift a ban',
    description: 'Ends the ban of a key. Earlier bans no longer prolong the next one.',
    path: { keyId: KEY_ID },
    headers: REPEATABLE.headers,
    response: { description: 'The ban was lifted.', headers: REPEATABLE.responseHeaders },
    errors: ['ban_not_found', ...REPEATABLE.errors],
  })
  async lift(
    @Param('keyId') keyId: string,
    @CurrentOperator() operator: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const work = async () => {
      const { accountId, keyId: subject, ...before } = await this.bans.lift(keyId);
      return { result: undefined, change: { action: 'ban.lifted', subject, accountId, before, after: null } };
    };
    await this.repeats.atomically({ request, reply, body: null }, () => this.audit.record(operator, work));
  }
}

function readFilter({ accountId }: Record<string, unknown>, errors: FieldError[]): Pick<BanPage, 'accountId'> {
  if (accountId === undefined) return { accountId: null };
  if (typeof accountId === 'string' && isTypeId('acct', accountId)) return { accountId };
  errors.push({ pointer: '', detail: 'accountId must be the id of an account.' });
  return { accountId: null };
}
