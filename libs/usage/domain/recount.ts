/** How soon an hour with messages that have not ended is counted again. Durations are intervals of PostgreSQL. */
export const FIRST_RECOUNT = '1 minute';

/** Further times, the longest of these: the longer the hour is over, and the more is undelivered, the later. */
export const SHORTEST = '1 minute';
/** The time since the hour began, divided by this. */
export const PART_OF_AGE = 10;
/** For each message that is not delivered. */
export const PER_UNDELIVERED = '1 millisecond';
/** But never longer than this. */
export const LONGEST = '1 day';
