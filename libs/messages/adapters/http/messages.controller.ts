import { Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ValidationError, type FieldFault } from '#kernel/domain-error.js';
import { Scoped } from '#platform/http/access.js';
import { CurrentCaller, type Caller } from '#platform/http/caller.js';
import { CountMore } from '#platform/http/counter.js';
import { JsonBody } from '#platform/http/json-body.js';
import { CancelMessage } from '../../application/cancel-message.js';
import { GetMessage } from '../../application/get-message.js';
import { ListMessages } from '../../application/list-messages.js';
import { RetryMessage } from '../../application/retry-message.js';
import { SendBatch } from '../../application/send-batch.js';
import { SendMessage } from '../../application/send-message.js';
import { Traceparent } from '#platform/http/traceparent.js';
import { pageOf, readPage, type PageView } from '#platform/http/paging.js';
import { MESSAGE_STATUSES } from '../../domain/message-status.js';
import { readBatch, readMessage, SendBatchBody, SendMessageBody } from './message-bodies.js';
import { acceptedView, messageView, type AcceptedView, type MessageView } from './message-views.js';

@Controller('messages')
export class MessagesController {
  constructor(
    private readonly sendMessage: SendMessage,
    private readonly sendBatch: SendBatch,
    private readonly getMessage: GetMessage,
    private readonly listMessages: ListMessages,
    private readonly cancelMessage: CancelMessage,
    private readonly retryMessage: RetryMessage,
  ) {}

  @Scoped('messages:send')
  @Post()
  @HttpCode(202)
  async send(
    @CurrentCaller() caller: Caller,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Traceparent() traceparent: string | null,
    @JsonBody(SendMessageBody) body: SendMessageBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedView> {
    const key = readIdempotencyKey(idempotencyKey);
    const wish = { ...readMessage(body), traceparent };
    const { message, replayed } = await this.sendMessage.execute(caller.accountId, wish, key);
    void reply.header('location', `/messages/${message.id}`);
    if (replayed) void reply.header('idempotent-replayed', 'true');
    return acceptedView(message);
  }

  @Scoped('messages:send')
  @Post('batch')
  @HttpCode(202)
  async sendAll(
    @CurrentCaller() caller: Caller,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Traceparent() traceparent: string | null,
    @JsonBody(SendBatchBody) body: SendBatchBody,
    @CountMore() countMore: CountMore,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ data: AcceptedView[] }> {
    const key = readIdempotencyKey(idempotencyKey);
    const wishes = readBatch(body).map((wish) => ({ ...wish, traceparent }));
    await countMore(wishes.length - 1);
    const { messages, replayed } = await this.sendBatch.execute(caller.accountId, wishes, key);
    if (replayed) void reply.header('idempotent-replayed', 'true');
    return { data: messages.map(acceptedView) };
  }

  @Scoped('messages:read')
  @Get()
  async list(@CurrentCaller() caller: Caller, @Query() query: Record<string, unknown>): Promise<PageView<MessageView>> {
    const page = readPage(query, 'msg', readStatus);
    const messages = await this.listMessages.execute(caller.accountId, { ...page, limit: page.limit + 1 });
    return pageOf(messages, page.limit, ({ id }) => id, messageView);
  }

  @Scoped('messages:read')
  @Get(':id')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<MessageView> {
    return messageView(await this.getMessage.execute(caller.accountId, id));
  }

  @Scoped('messages:send')
  @Post(':id/cancel')
  @HttpCode(200)
  async cancel(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<MessageView> {
    return messageView(await this.cancelMessage.execute(caller.accountId, id));
  }

  @Scoped('messages:send')
  @Post(':id/retry')
  @HttpCode(202)
  async retry(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<MessageView> {
    return messageView(await this.retryMessage.execute(caller.accountId, id));
  }
}

function readStatus({ status }: Readonly<Record<string, unknown>>, faults: FieldFault[]) {
  const known = MESSAGE_STATUSES.find((candidate) => candidate === status) ?? null;
  if (status !== undefined && known === null) {
    faults.push({ pointer: '', detail: `status must be one of ${MESSAGE_STATUSES.join(', ')}.` });
  }
  return { status: known };
}

function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (/^[!-~]{1,255}$/.test(header)) return header;
  throw new ValidationError([
    { pointer: '', detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters, without blanks.' },
  ]);
}
