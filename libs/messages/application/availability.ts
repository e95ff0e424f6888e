/**
 * Tells all processes that messages of an account may be leased now, or sooner than before. Nothing depends on it but how
 * soon a waiting lease is answered: what is announced while a process does not listen is lost to that process.
 */
export abstract class Availability {
  abstract announce(accountIds: Iterable<string>): void;

  /** Calls the listener, from now on, with the accounts that any process announces, and with all when some may be missing. */
  abstract listen(listener: (accountIds: Iterable<string> | 'all') => void): void;
}
