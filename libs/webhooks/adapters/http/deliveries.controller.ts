import { Controller, Get, Param, Query, UseGuards } from '@nestjs/common';
import type { Caller } from '#kernel/caller.js';
import type { FieldError } from '#kernel/domain-error.js';
import { ENDPOINT_DELIVERY_STATUSES } from '#messages/index.js';
import { Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import { pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { idOf } from '#platform/http/openapi/schema.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import type { DeliveryPage } from '../../application/delivery-log.js';
import { ReadDeliveries } from '../../application/read-deliveries.js';
import { DELIVERY_STATUS, ENDPOINT_DELIVERY_PAGE, MESSAGE_DELIVERIES } from './delivery-views.js';
import { ENDPOINT_ID } from './views.js';
import { WebhooksEnabledGuard } from './webhooks-enabled.guard.js';

const MANAGE = 'account:manage';

/** What each endpoint has got. */
@Section('Webhooks')
@Controller()
export class DeliveriesController {
  constructor(private readonly deliveries: ReadDeliveries) {}

  @Scoped('messages:read')
  @Get('messages/:id/deliveries')
  @Operation({
    id: 'listMessageDeliveries',
    summary: 'List the deliveries of a message to endpoints',
    description:
      'Returns how far the message is at each endpoint, the oldest endpoint first. Empty for a message that is not ' +
      'delivered by webhooks. Deliveries that were cancelled with the message are left out. The URLs and descriptions of ' +
      `the endpoints are shown to keys with \`${MANAGE}\`.`,
    path: { id: idOf('msg', 'The id of the message.') },
    response: { description: 'The deliveries.', body: MESSAGE_DELIVERIES },
    errors: ['message_not_found'],
  })
  async ofMessage(@CurrentCaller() { accountId, scopes }: Caller, @Param('id') id: string): Promise<object> {
    return { data: await this.deliveries.ofMessage(accountId, id, scopes.includes(MANAGE)) };
  }

  @Scoped(MANAGE)
  @UseGuards(WebhooksEnabledGuard)
  @Get('endpoints/:id/deliveries')
  @Operation({
    id: 'listEndpointDeliveries',
    summary: 'List the deliveries to an endpoint',
    description:
      'Returns what the endpoint has got, still gets, or has missed, the newest message first. Deliveries that were ' +
      'cancelled with their message are left out.',
    path: { id: ENDPOINT_ID },
    query: { ...PAGING, status: { $ref: DELIVERY_STATUS, description: 'Returns only deliveries with this status.' } },
    response: { description: 'A page of deliveries.', body: ENDPOINT_DELIVERY_PAGE },
    errors: ['endpoint_not_found', 'webhooks_disabled'],
  })
  async ofEndpoint(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @Query() query: Record<string, unknown>,
  ): Promise<PageView<object>> {
    const find = (page: DeliveryPage) => this.deliveries.ofEndpoint(accountId, id, page);
    return pageOf(
      readPage(query, 'msg', readStatus),
      find,
      ({ messageId }) => messageId,
      (delivery) => delivery,
    );
  }
}

function readStatus({ status }: Readonly<Record<string, unknown>>, errors: FieldError[]): Pick<DeliveryPage, 'status'> {
  const known = ENDPOINT_DELIVERY_STATUSES.find((candidate) => candidate === status) ?? null;
  if (status !== undefined && known === null) {
    errors.push({ pointer: '', detail: `status must be one of ${ENDPOINT_DELIVERY_STATUSES.join(', ')}.` });
  }
  return { status: known };
}
