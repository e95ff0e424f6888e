import { DELIVERY_MODES } from '#kernel/delivery-mode.js';
import type { Message } from '../../domain/message.js';

/** Announced when a delivery to an endpoint, of any account, may be due. */
export const WEBHOOKS = 'webhooks';

/** The id of an account whose messages may be leased now, or sooner than before; or `WEBHOOKS`. */
export type Available = string;

/**
 * Tells all processes which messages they can take now. It only makes them faster: a process that misses an
 * announcement finds the messages later by itself.
 */
export abstract class Availability {
  abstract announce(available: Iterable<Available>): void;

  /**
   * Calls the listener with the announcements of all processes from now on, and with `all` when some may be missing.
   */
  abstract listen(listener: (available: Iterable<Available> | 'all') => void): void;
}

/** The announcements when the delivery of a message starts. None for a message that has a job. */
export function announcedFor({ state }: Message): readonly Available[] {
  const { hasEndpoints, isLeased } = DELIVERY_MODES[state.delivery];
  if (isLeased) return [state.accountId];
  return hasEndpoints ? [WEBHOOKS] : [];
}
