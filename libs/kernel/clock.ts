/** The current time. The domain never reads the system clock itself. */
export abstract class Clock {
  abstract now(): Date;
}

/** The database's clock, as far as it is known here: the clock of this machine without its difference. */
class DatabaseClock extends Clock {
  /** By how many milliseconds this machine's clock is ahead, at the last comparison. */
  aheadMs = 0;

  now(): Date {
    return new Date(Date.now() - this.aheadMs);
  }
}

/** The one of this process. */
export const databaseClock = new DatabaseClock();
