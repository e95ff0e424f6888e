import { Controller, Get, Headers, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AdmissionCheck, Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import type { Caller } from '#kernel/caller.js';
import { goneSignal } from '#platform/http/edge/connections.js';
import { header, Operation, Section } from '#platform/http/openapi/operation.js';
import { EventStreams, HEARTBEAT_EVERY_MS, MAX_STREAMS, SLOWEST_PAGE_MS } from '../../application/event-streams.js';
import { EventStream, readPosition } from './event-stream.js';
import { EVENTS } from '#messages/adapters/http/index.js';

const SCOPE = 'messages:read';

const LAST_EVENT_ID = {
  type: 'string',
  description:
    'The `id` of the last event that was received. What has happened since, within the last hour, is sent first. A value ' +
    'that is not the id of an event is ignored.',
  examples: ['48211-48215-9007'],
};

const NOT_BUFFERED = header('Tells proxies not to hold events back.', { type: 'string', const: 'no' });

@Section('Messages')
@Scoped(SCOPE)
@Controller('events')
export class EventsController {
  constructor(
    private readonly streams: EventStreams,
    private readonly admission: AdmissionCheck,
  ) {}

  @Get()
  @Operation({
    id: 'streamEvents',
    summary: 'Stream the changes of messages',
    description:
      'Sends an event, as server-sent events define it, whenever the status of a message of the account changes, from now ' +
      'on. The events of a message are in order. **A client that was disconnected resumes with `Last-Event-ID`**, without ' +
      `missing or repeating an event, within an hour. A comment is sent every ${HEARTBEAT_EVERY_MS / 1_000} seconds. A ` +
      `client that does not read for ${SLOWEST_PAGE_MS / 1_000} seconds what was sent is disconnected. At most ` +
      `${MAX_STREAMS} streams of an account can be open.`,
    headers: { 'Last-Event-ID': LAST_EVENT_ID },
    response: {
      description: 'Events, until the client disconnects or the stream is closed.',
      body: EVENTS,
      mediaTypes: ['text/event-stream'],
      headers: { 'X-Accel-Buffering': NOT_BUFFERED },
    },
    errors: ['too_many_streams'],
  })
  async stream(
    @CurrentCaller() { accountId }: Caller,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { presentedKey = '' } = request;
    const body = new EventStream();
    if (request.method === 'HEAD') {
      body.end();
    } else {
      const isAdmitted = () => this.admission.admits(presentedKey, SCOPE);
      const gone = goneSignal(request, reply);
      const close = await this.streams.open(accountId, readPosition(lastEventId), body, isAdmitted);
      if (gone.aborted) close();
      else gone.addEventListener('abort', close);
    }
    void reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' }).send(body);
  }
}
