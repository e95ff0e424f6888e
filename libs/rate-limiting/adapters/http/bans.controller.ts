import { Controller, Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { ForOperators } from '#platform/http/access.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import { idOf, time, viewModel } from '#platform/http/openapi/schema.js';
import { pageModel, pageOf, PAGING, readPage, type PageView } from '#platform/http/paging.js';
import { Bans, type Ban } from '../../bans.js';

const KEY_ID = idOf('key', 'The id of the banned key.');

const BAN = viewModel<Ban>('Ban', 'A key that is banned for a while.', {
  keyId: KEY_ID,
  accountId: idOf('acct', 'The account of the key.'),
  reason: {
    type: 'string',
    description: 'What the key did.',
    examples: ['30 requests within a minute after the limit was exceeded'],
  },
  bannedAt: time('When the ban began.'),
  bannedUntil: time('When it ends by itself.', '2026-11-21T09:31:00.123Z'),
});

@Section('Operators')
@ForOperators()
@Controller('admin/bans')
export class BansController {
  constructor(private readonly bans: Bans) {}

  @Get()
  @Operation({
    id: 'listBans',
    summary: 'List bans',
    description: 'The bans in force.',
    query: PAGING,
    answer: { description: 'A page of bans.', body: pageModel(BAN) },
  })
  async list(@Query() query: Record<string, unknown>): Promise<PageView<Ban>> {
    const { limit, before } = readPage(query, 'key');
    const found = await this.bans.list({ limit: limit + 1, before });
    return pageOf(
      found,
      limit,
      ({ keyId }) => keyId,
      (ban) => ban,
    );
  }

  @Delete(':keyId')
  @HttpCode(204)
  @Operation({
    id: 'liftBan',
    summary: 'Lift a ban',
    description: 'Ends the ban of a key, and forgets those before it.',
    path: { keyId: KEY_ID },
    answer: { description: 'The ban is lifted.' },
    problems: ['ban_not_found'],
  })
  async lift(@Param('keyId') keyId: string): Promise<void> {
    await this.bans.lift(keyId);
  }
}
