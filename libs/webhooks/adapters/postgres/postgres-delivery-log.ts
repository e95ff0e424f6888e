import { isTypeId } from '#kernel/typeid.js';
import type { Reads } from '#platform/database/reads.js';
import {
  DeliveryLog,
  type DeliveryPage,
  type EndpointDelivery,
  type EndpointName,
} from '../../application/delivery-log.js';
import { DELIVERIES_OF_MESSAGE, deliveriesOfEndpoint } from './delivery-log.sql.js';

/** Above every id. */
const HIGHEST_ID = 'msg_~';

type Row = EndpointDelivery & EndpointName;

export class PostgresDeliveryLog extends DeliveryLog {
  constructor(private readonly reads: Reads) {
    super();
  }

  async ofMessage(accountId: string, messageId: string): Promise<Row[] | null> {
    if (!isTypeId('msg', messageId)) return null;
    const values = [accountId, messageId];
    const rows = await this.reads.query<Row | { readonly messageId: null }>(
      ...([accountId, 'deliveries of a message', DELIVERIES_OF_MESSAGE, values] as const),
    );
    return rows.length === 0 ? null : rows.filter((row) => row.messageId !== null);
  }

  ofEndpoint(accountId: string, endpointId: string, page: DeliveryPage): Promise<EndpointDelivery[]> {
    const { limit, before, status } = page;
    const values = [accountId, before ?? HIGHEST_ID, limit, '', endpointId];
    const name = `deliveries of an endpoint, ${status ?? 'any'}`;
    return this.reads.query<EndpointDelivery>(accountId, name, deliveriesOfEndpoint(status), values);
  }
}
