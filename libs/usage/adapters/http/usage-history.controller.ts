import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#kernel/caller.js';
import { Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import { ReadUsageHistory } from '../../application/read-usage-history.js';
import { HISTORY_QUERY, readHistoryQuery } from './history-query.js';
import { CSV, sendHistory } from './history-response.js';
import { COLUMNS, HISTORY } from './views.js';

@Section('Account')
@Scoped('account:manage')
@Controller('account/usage')
export class UsageHistoryController {
  constructor(private readonly history: ReadUsageHistory) {}

  @Get('history')
  @Operation({
    id: 'getUsageHistory',
    summary: 'Get the usage history of the account',
    description:
      'Returns how many messages were accepted in each hour or day, and how they have ended, by the time of their ' +
      'acceptance. Periods without messages are left out. **`accepted` and `acceptedBytes` of an hour are final a minute ' +
      'after its end**; those of the running hour lag by up to a minute. The other counts follow as the messages end. ' +
      'Until the hours that are over are counted, such as after an outage, the response is 503.',
    query: HISTORY_QUERY,
    response: { description: 'A page of periods, oldest first.', body: HISTORY, ...CSV },
  })
  async get(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object | string> {
    const wanted = readHistoryQuery(query, false);
    return sendHistory(request, reply, wanted, COLUMNS, await this.history.of(accountId, wanted));
  }
}
