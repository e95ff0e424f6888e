import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AdmissionCheck, Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import type { Caller } from '#kernel/caller.js';
import { goneSignal } from '#platform/http/edge/connections.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import { EndLeases } from '../../application/end-leases.js';
import { LeaseMessages } from '../../application/lease-messages.js';
import { ACKNOWLEDGED_LEASES, LEASE_SECONDS, LEASED_MESSAGES, WAIT_SECONDS } from '../../domain/lease-terms.js';
import {
  AcknowledgeAllBody,
  AcknowledgeBody,
  AcknowledgedLease,
  ExtendBody,
  LeaseBody,
  readLease,
  readLeases,
  RejectBody,
} from './lease-bodies.js';
import { ACKNOWLEDGEMENTS, EXTENDED, LEASED, leasedView } from './lease-views.js';
import { MESSAGE_ID } from '#messages/adapters/http/index.js';

@Section('Leases')
@Scoped('messages:consume')
@Controller('messages')
export class LeasesController {
  constructor(
    private readonly leaseMessages: LeaseMessages,
    private readonly endLeases: EndLeases,
    private readonly admission: AdmissionCheck,
  ) {}

  @Post('lease')
  @HttpCode(200)
  @Operation({
    id: 'leaseMessages',
    summary: 'Lease messages',
    description:
      'Returns messages that were accepted while `delivery` of the account was `pull`, the oldest first, up to about 1 MiB ' +
      'of text. Nobody else gets them until the lease ends. Acknowledge each one once it is processed: **a message whose ' +
      'lease expires is available again**, so that it is processed at least once. If none is available, the response is ' +
      'sent as soon as there is one, or after `wait` seconds without any. While the account is paused, none is available.',
    response: { description: 'The leased messages; none if none was available.', body: LEASED },
  })
  async lease(
    @CurrentCaller() { accountId }: Caller,
    @JsonBody(LeaseBody) body: LeaseBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const terms = {
      max: body.max ?? LEASED_MESSAGES.initial,
      leaseMs: 1_000 * (body.seconds ?? LEASE_SECONDS.initial),
      waitMs: 1_000 * (body.wait ?? WAIT_SECONDS.initial),
    };
    const assertAllowed = () => this.admission.assertKeyValid(request);
    const { messages, paused } = await this.leaseMessages.execute(
      ...([accountId, terms, goneSignal(request, reply), assertAllowed] as const),
    );
    return { data: messages.map(leasedView), ...(paused && { paused }) };
  }

  @Post('ack')
  @HttpCode(200)
  @Operation({
    id: 'acknowledgeMessages',
    summary: 'Acknowledge leased messages',
    description: `Acknowledges up to ${ACKNOWLEDGED_LEASES.max.toLocaleString('en')} messages, each by itself. A request can be repeated.`,
    response: { description: 'What became of each message.', body: ACKNOWLEDGEMENTS },
  })
  async acknowledgeAll(
    @CurrentCaller() { accountId }: Caller,
    @JsonBody(AcknowledgeAllBody, Infinity, AcknowledgedLease) body: AcknowledgeAllBody,
  ): Promise<object> {
    const leases = readLeases(body);
    const acknowledged = await this.endLeases.acknowledgeAll(accountId, leases);
    return {
      data: leases.map(({ id }, index) => ({
        id,
        result: acknowledged[index] === true ? 'acknowledged' : 'lease_lost',
      })),
    };
  }

  @Post(':id/ack')
  @HttpCode(204)
  @Operation({
    id: 'acknowledgeMessage',
    summary: 'Acknowledge a leased message',
    description: 'The message is `delivered`. A request can be repeated.',
    path: { id: MESSAGE_ID },
    response: { description: 'The message is delivered.' },
    errors: ['message_not_found', 'lease_lost'],
  })
  async acknowledge(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @JsonBody(AcknowledgeBody) { leaseToken }: AcknowledgeBody,
  ): Promise<void> {
    await this.endLeases.acknowledge(accountId, readLease(id, leaseToken));
  }

  @Post(':id/nack')
  @HttpCode(204)
  @Operation({
    id: 'rejectMessage',
    summary: 'Reject a leased message',
    description:
      'The attempt has failed. The message is available again after a while, or `failed` if it has used up its attempts. ' +
      'A request can be repeated.',
    path: { id: MESSAGE_ID },
    response: { description: 'The attempt has failed.' },
    errors: ['message_not_found', 'lease_lost'],
  })
  async reject(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @JsonBody(RejectBody) { leaseToken, delaySeconds = null, reason = null }: RejectBody,
  ): Promise<void> {
    const delayMs = delaySeconds === null ? null : 1_000 * delaySeconds;
    await this.endLeases.reject(accountId, readLease(id, leaseToken), { delayMs, reason });
  }

  @Post(':id/extend')
  @HttpCode(200)
  @Operation({
    id: 'extendLease',
    summary: 'Extend a lease',
    description: 'The lease expires `seconds` from now. It can be extended any number of times.',
    path: { id: MESSAGE_ID },
    response: { description: 'The lease was extended.', body: EXTENDED },
    errors: ['message_not_found', 'lease_lost'],
  })
  async extend(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @JsonBody(ExtendBody) { leaseToken, seconds }: ExtendBody,
  ): Promise<object> {
    const leaseExpiresAt = await this.endLeases.extend(accountId, readLease(id, leaseToken), 1_000 * seconds);
    return { leaseExpiresAt };
  }
}
