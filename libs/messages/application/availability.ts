/** Announced for deliveries to endpoints, of whichever account. */
export const WEBHOOKS = 'webhooks';

/** The id of an account whose messages may be leased now, or sooner than before; or that webhooks may be sent. */
export type Available = string;

/**
 * Tells all processes what they may take now. Nothing depends on it but how soon they do: what is announced while a process does not listen is lost to that process.
 */
export abstract class Availability {
  abstract announce(available: Iterable<Available>): void;

  /** Calls the listener, from now on, with what any process announces, and with `all` when some may be missing. */
  abstract listen(listener: (available: Iterable<Available> | 'all') => void): void;
}
