import { ATTEMPT_BYTES, DELIVERY_BYTES } from '#messages/index.js';
import type { DeliveryResult } from '../endpoint-deliveries.js';

/** What is left for the first attempt of what its delivery was counted with. */
const COUNTED_WITH_DELIVERY = DELIVERY_BYTES - ATTEMPT_BYTES;

/** Bytes that an attempt stores, less what was counted for it when its message was accepted. */
export function attemptBytes({ delivery, error, responseBody }: DeliveryResult): number {
  const bytes = ATTEMPT_BYTES + Buffer.byteLength(error ?? '') + Buffer.byteLength(responseBody ?? '');
  return delivery.failures === 0 ? Math.max(0, bytes - COUNTED_WITH_DELIVERY) : bytes;
}
