import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ForOperators } from '#platform/http/access/access.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import { idOf } from '#platform/http/openapi/schema.js';
import { ReadUsageHistory } from '../../application/read-usage-history.js';
import { HISTORY_QUERY, readHistoryQuery } from './history-query.js';
import { CSV, sendHistory } from './history-response.js';
import { COLUMNS, COLUMNS_OF_ALL, HISTORY, HISTORY_OF_ALL } from './views.js';

@Section('Operators')
@ForOperators()
@Controller('admin')
export class AdminUsageController {
  constructor(private readonly history: ReadUsageHistory) {}

  @Get('usage')
  @Operation({
    id: 'listUsage',
    summary: 'List the usage of all accounts',
    description:
      'Returns what was accepted from each account in each hour or day: see the usage history of an account. Accounts ' +
      'that no longer exist are included.',
    query: HISTORY_QUERY,
    response: { description: 'A page of periods, oldest first, then by account.', body: HISTORY_OF_ALL, ...CSV },
  })
  async list(
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object | string> {
    const wanted = readHistoryQuery(query, true);
    return sendHistory(request, reply, wanted, COLUMNS_OF_ALL, await this.history.ofAll(wanted));
  }

  @Get('accounts/:id/usage/history')
  @Operation({
    id: 'getAnyUsageHistory',
    summary: 'Get the usage history of any account',
    description: 'Returns the same as the account itself gets. An account keeps its history when it is deleted.',
    path: { id: idOf('acct', 'The id of the account.') },
    query: HISTORY_QUERY,
    response: { description: 'A page of periods, oldest first.', body: HISTORY, ...CSV },
    errors: ['account_not_found'],
  })
  async get(
    @Param('id') id: string,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object | string> {
    const wanted = readHistoryQuery(query, false);
    return sendHistory(request, reply, wanted, COLUMNS, await this.history.of(id, wanted));
  }
}
