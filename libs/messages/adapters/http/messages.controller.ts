import { Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ValidationError } from '#kernel/domain-error.js';
import { CurrentCaller, type Caller } from '#platform/http/caller.js';
import { JsonBody } from '#platform/http/json-body.js';
import { CancelMessage } from '../../application/cancel-message.js';
import { GetMessage } from '../../application/get-message.js';
import { ListMessages } from '../../application/list-messages.js';
import { RetryMessage } from '../../application/retry-message.js';
import { SendMessage } from '../../application/send-message.js';
import { encodeCursor, readListQuery } from './list-query.js';
import { SendMessageBody } from './message-bodies.js';
import { acceptedView, messageView, type AcceptedView, type MessageView } from './message-views.js';

@Controller('messages')
export class MessagesController {
  constructor(
    private readonly sendMessage: SendMessage,
    private readonly getMessage: GetMessage,
    private readonly listMessages: ListMessages,
    private readonly cancelMessage: CancelMessage,
    private readonly retryMessage: RetryMessage,
  ) {}

  @Post()
  @HttpCode(202)
  async send(
    @CurrentCaller() caller: Caller,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @JsonBody(SendMessageBody) body: SendMessageBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedView> {
    const key = readIdempotencyKey(idempotencyKey);
    const { message, replayed } = await this.sendMessage.execute(caller.accountId, body.message, key);
    void reply.header('location', `/messages/${message.id}`);
    if (replayed) void reply.header('idempotent-replayed', 'true');
    return acceptedView(message);
  }

  @Get()
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: Record<string, unknown>,
  ): Promise<{ data: MessageView[]; nextCursor: string | null }> {
    const { messages, next } = await this.listMessages.execute(caller.accountId, readListQuery(query));
    return { data: messages.map(messageView), nextCursor: next === null ? null : encodeCursor(next) };
  }

  @Get(':id')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<MessageView> {
    return messageView(await this.getMessage.execute(caller.accountId, id));
  }

  @Post(':id/cancel')
  @HttpCode(200)
  async cancel(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<MessageView> {
    return messageView(await this.cancelMessage.execute(caller.accountId, id));
  }

  @Post(':id/retry')
  @HttpCode(202)
  async retry(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<MessageView> {
    return messageView(await this.retryMessage.execute(caller.accountId, id));
  }
}

function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (/^[!-~]{1,255}$/.test(header)) return header;
  throw new ValidationError([
    { pointer: '', detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters, without blanks.' },
  ]);
}
