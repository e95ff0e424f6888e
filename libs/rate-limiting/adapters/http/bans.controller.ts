import { Controller, Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { ForOperators } from '#platform/http/access.js';
import { pageOf, readPage, type PageView } from '#platform/http/paging.js';
import { Bans, type Ban } from '../../bans.js';

@ForOperators()
@Controller('admin/bans')
export class BansController {
  constructor(private readonly bans: Bans) {}

  @Get()
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
  async lift(@Param('keyId') keyId: string): Promise<void> {
    await this.bans.lift(keyId);
  }
}
