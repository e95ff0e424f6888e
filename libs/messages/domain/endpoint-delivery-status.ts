/** How far the delivery of a message to an endpoint is. One that is being made is `pending`. */
export const ENDPOINT_DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type EndpointDeliveryStatus = (typeof ENDPOINT_DELIVERY_STATUSES)[number];
