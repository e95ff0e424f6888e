/** Announced when a delivery to an endpoint, of any account, may be due. */
export const WEBHOOKS = 'webhooks';

/** The id of an account whose messages may be leased now, or sooner than before; or `WEBHOOKS`. */
export type Available = string;

/**
 * Tells all processes what they may take now. It only makes them faster: a process misses what is announced while it does
 * not listen, and finds it later by itself.
 */
export abstract class Availability {
  abstract announce(available: Iterable<Available>): void;

  /** Calls the listener, from now on, with what any process announces, and with `all` when some may be missing. */
  abstract listen(listener: (available: Iterable<Available> | 'all') => void): void;
}
