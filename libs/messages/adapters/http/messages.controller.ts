import { Controller, Get, Headers, HttpCode, Param, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import type { Caller } from '#kernel/caller.js';
import { CountMore } from '#platform/http/access/count-more.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import { pageModel, pageView, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { Traceparent } from '#platform/http/edge/traceparent.js';
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  readIdempotencyKey,
  REPEATABLE,
  Repeats,
} from '#platform/http/access/repeats.js';
import { CancelMessage } from '../../application/changes/cancel-message.js';
import { CancelQueued, MAX_CANCELLED } from '../../application/changes/cancel-queued.js';
import { MAX_RETRIED, RetryFailed } from '../../application/changes/retry-failed.js';
import { RetryMessage } from '../../application/changes/retry-message.js';
import { SendBatch } from '../../application/sending/send-batch.js';
import { SendMessage } from '../../application/sending/send-message.js';
import { ReadMessages } from '../../application/read-messages.js';
import { EarlyStorageCheck } from './early-storage-check.js';
import { readBatch, readMessage, SendBatchBody, SendMessageBody } from './message-bodies.js';
import { CancelQueuedBody, filterOf, LIST_QUERY, readListQuery, RetryFailedBody } from './message-filters.js';
import { LOCATION, TRACEPARENT } from './message-headers.js';
import {
  ACCEPTED_BATCH,
  ACCEPTED_MESSAGE,
  acceptedView,
  ATTEMPTS,
  CANCELLED,
  MESSAGE,
  MESSAGE_ID,
  messageView,
  RETRIED,
} from './message-views.js';

@Section('Messages')
@Controller('messages')
export class MessagesController {
  constructor(
    private readonly sendMessage: SendMessage,
    private readonly sendBatch: SendBatch,
    private readonly readMessages: ReadMessages,
    private readonly cancelMessage: CancelMessage,
    private readonly cancelQueued: CancelQueued,
    private readonly retryMessage: RetryMessage,
    private readonly retryFailed: RetryFailed,
    private readonly repeats: Repeats,
  ) {}

  @Scoped('messages:send')
  @UseGuards(EarlyStorageCheck)
  @Post()
  @HttpCode(202)
  @Operation({
    id: 'sendMessage',
    summary: 'Send a message',
    description:
      '**After a 202, the message is durably stored and queued.** After a 4xx or 507, nothing was stored. After any other ' +
      '5xx or a broken connection, repeat the request with the same `Idempotency-Key` to create at most one message.',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, traceparent: TRACEPARENT },
    response: {
      description: 'The message was stored and queued.',
      body: ACCEPTED_MESSAGE,
      headers: {
        Location: LOCATION,
        'Idempotent-Replayed': IDEMPOTENT_REPLAYED,
      },
      links: ['getMessage', 'listAttempts', 'cancelMessage', 'retryMessage'],
    },
    errors: ['idempotency_key_in_use', 'idempotency_key_reused', 'storage_full'],
  })
  async send(
    @CurrentCaller() caller: Caller,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Traceparent() traceparent: string | null,
    @JsonBody(SendMessageBody, Infinity) body: SendMessageBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const key = readIdempotencyKey(idempotencyKey);
    const content = readMessage(body);
    const terms = { traceparent, delivery: caller.delivery };
    const { message, replayed } = await this.sendMessage.execute(caller.accountId, content, terms, key);
    void reply.header('location', `/messages/${message.id}`);
    if (replayed) void reply.header('idempotent-replayed', 'true');
    return acceptedView(message);
  }

  @Scoped('messages:send')
  @UseGuards(EarlyStorageCheck)
  @Post('batch')
  @HttpCode(202)
  @Operation({
    id: 'sendBatch',
    summary: 'Send a batch of messages',
    description:
      'Accepts either all messages or none. Each message counts as one request. **After a 202, the messages are durably ' +
      'stored and queued.** After a 5xx other than 507 or a broken connection, repeat the request with the same ' +
      '`Idempotency-Key` to create at most one batch.',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, traceparent: TRACEPARENT },
    response: {
      description: 'All messages were stored and queued.',
      body: ACCEPTED_BATCH,
      headers: { 'Idempotent-Replayed': IDEMPOTENT_REPLAYED },
    },
    errors: ['batch_exceeds_limit', 'idempotency_key_in_use', 'idempotency_key_reused', 'storage_full'],
  })
  async sendAll(
    @CurrentCaller() caller: Caller,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Traceparent() traceparent: string | null,
    @JsonBody(SendBatchBody, Infinity, SendMessageBody) body: SendBatchBody,
    @CountMore() countMore: CountMore,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const key = readIdempotencyKey(idempotencyKey);
    const contents = readBatch(body);
    const terms = { traceparent, delivery: caller.delivery };
    await countMore(contents.length - 1);
    const { messages, replayed } = await this.sendBatch.execute(caller.accountId, contents, terms, key);
    if (replayed) void reply.header('idempotent-replayed', 'true');
    return { data: messages.map(acceptedView) };
  }

  @Scoped('messages:send')
  @Post('retry')
  @HttpCode(202)
  @Operation({
    id: 'retryFailedMessages',
    summary: 'Retry failed messages',
    description:
      'Queues all `failed` messages of a type, or all, that were created in a period again and gives them a new set of ' +
      `attempts. Their ids do not change. One request handles at most the ${MAX_RETRIED.toLocaleString('en')} oldest messages: repeat it ` +
      'until `count` is less.',
    headers: REPEATABLE.headers,
    response: { description: 'The messages were queued again.', body: RETRIED, headers: REPEATABLE.responseHeaders },
    errors: ['storage_full', ...REPEATABLE.errors],
  })
  async retryAll(
    @CurrentCaller() caller: Caller,
    @JsonBody(RetryFailedBody) body: RetryFailedBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.afterwards({ request, reply, body }, async () => ({
      count: await this.retryFailed.execute(caller.accountId, filterOf(body)),
    }));
  }

  @Scoped('messages:send')
  @Post('cancel')
  @HttpCode(202)
  @Operation({
    id: 'cancelQueuedMessages',
    summary: 'Cancel queued messages',
    description:
      'Cancels the `queued` messages that match every field, or all of them if the body is `{}`: also scheduled ones, and ' +
      'ones that wait for another attempt. Unknown fields are refused. A message whose attempt begins first is not cancelled. One request handles at ' +
      `most the ${MAX_CANCELLED.toLocaleString('en')} oldest messages: repeat it until \`count\` is less.`,
    headers: REPEATABLE.headers,
    response: { description: 'The messages were cancelled.', body: CANCELLED, headers: REPEATABLE.responseHeaders },
    errors: REPEATABLE.errors,
  })
  async cancelAll(
    @CurrentCaller() caller: Caller,
    @JsonBody(CancelQueuedBody) body: CancelQueuedBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.afterwards({ request, reply, body }, async () => ({
      count: await this.cancelQueued.execute(caller.accountId, filterOf(body)),
    }));
  }

  @Scoped('messages:read')
  @Get()
  @Operation({
    id: 'listMessages',
    summary: 'List messages',
    description: 'Returns the messages of the account, newest first.',
    query: { ...PAGING, ...LIST_QUERY },
    response: { description: 'A page of messages.', body: pageModel(MESSAGE) },
  })
  async list(@CurrentCaller() caller: Caller, @Query() query: Record<string, unknown>): Promise<PageView<object>> {
    const page = readPage(query, 'msg', readListQuery);
    const { messages, cut, more } = await this.readMessages.list(caller.accountId, page);
    return pageView(
      messages,
      more,
      ({ id }) => id,
      (message) => messageView(message, cut.has(message.id)),
    );
  }

  @Scoped('messages:read')
  @Get(':id')
  @Operation({
    id: 'getMessage',
    summary: 'Get a message',
    description: 'Returns the message as it is now. The operator decides for how long messages are kept.',
    path: { id: MESSAGE_ID },
    response: { description: 'The message with its current state.', body: MESSAGE },
    errors: ['message_not_found'],
  })
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<object> {
    return messageView(await this.readMessages.find(caller.accountId, id));
  }

  @Scoped('messages:read')
  @Get(':id/attempts')
  @Operation({
    id: 'listAttempts',
    summary: 'List the delivery attempts of a message',
    description: 'Returns up to 1,000 of the most recent attempts, oldest first.',
    path: { id: MESSAGE_ID },
    response: { description: 'The attempts.', body: ATTEMPTS },
    errors: ['message_not_found'],
  })
  async attempts(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<object> {
    return { data: await this.readMessages.attempts(caller.accountId, id) };
  }

  @Scoped('messages:send')
  @Post(':id/cancel')
  @HttpCode(200)
  @Operation({
    id: 'cancelMessage',
    summary: 'Cancel a message',
    description: 'Cancels a message that is `queued`.',
    path: { id: MESSAGE_ID },
    headers: REPEATABLE.headers,
    response: { description: 'The message, now `cancelled`.', body: MESSAGE, headers: REPEATABLE.responseHeaders },
    errors: ['message_not_found', 'invalid_transition', ...REPEATABLE.errors],
  })
  async cancel(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.afterwards({ request, reply, body: null }, async () =>
      messageView(await this.cancelMessage.execute(caller.accountId, id)),
    );
  }

  @Scoped('messages:send')
  @Post(':id/retry')
  @HttpCode(202)
  @Operation({
    id: 'retryMessage',
    summary: 'Retry a failed message',
    description: 'Queues a `failed` message again and gives it a new set of attempts.',
    path: { id: MESSAGE_ID },
    headers: REPEATABLE.headers,
    response: {
      description: 'The message, `queued` again, or `failed` at once if no endpoint gets it.',
      body: MESSAGE,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['message_not_found', 'invalid_transition', 'storage_full', ...REPEATABLE.errors],
  })
  async retry(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.afterwards({ request, reply, body: null }, async () =>
      messageView(await this.retryMessage.execute(caller.accountId, id)),
    );
  }
}
