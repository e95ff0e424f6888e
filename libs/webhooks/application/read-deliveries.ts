import { messageNotFound } from '#messages/index.js';
import type { DeliveryLog, DeliveryPage, EndpointDelivery, EndpointName } from './delivery-log.js';
import type { ReadEndpoints } from './endpoints/read-endpoints.js';

/** What the endpoints of an account have got. */
export class ReadDeliveries {
  constructor(
    private readonly log: DeliveryLog,
    private readonly endpoints: ReadEndpoints,
  ) {}

  /**
   * @param showsEndpoints whether the URLs and descriptions of the endpoints may be read
   * @throws DomainError `message_not_found`, also for a message of another account
   */
  async ofMessage(
    accountId: string,
    messageId: string,
    showsEndpoints: boolean,
  ): Promise<readonly (EndpointDelivery & EndpointName)[]> {
    const deliveries = await this.log.ofMessage(accountId, messageId);
    if (deliveries === null) throw messageNotFound();
    return showsEndpoints ? deliveries : deliveries.map((delivery) => ({ ...delivery, url: null, description: null }));
  }

  /**
   * Newest message first; one more than the limit if there are more.
   * @throws DomainError `endpoint_not_found`, also for an endpoint of another account
   */
  async ofEndpoint(accountId: string, endpointId: string, page: DeliveryPage): Promise<readonly EndpointDelivery[]> {
    const { id } = await this.endpoints.find(accountId, endpointId);
    return this.log.ofEndpoint(accountId, id, page);
  }
}
