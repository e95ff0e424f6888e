import { isReserved, MAX_TYPE, MESSAGE_TYPE } from './message-type.js';

/** Matches every message, also one without a type, except those of reserved types. */
export const ANY_TYPE = '*';

/** What follows the type, or the beginning of a type, that a pattern names. */
const ANY_FURTHER = '.*';

/** A type, the words that types begin with followed by `.*`, or `*`. At most MAX_TYPE characters. */
export const TYPE_PATTERN = new RegExp(`^(\\*|${MESSAGE_TYPE.source.slice(1, -1)}(\\.\\*)?)$`);

export function isTypePattern(text: string): boolean {
  return text.length <= MAX_TYPE && TYPE_PATTERN.test(text);
}

/**
 * Whether one of these patterns matches the type of a message. `order.*` matches `order.paid` and `order.paid.eu`, but
 * neither `order` nor `orders`. Reserved types are matched only by patterns that begin with their first word. The function
 * sluice.type_patterns repeats this rule, and a property test compares them.
 * @param patterns none: the same as `*`
 * @param type null for a message without one
 */
export function matchesType(patterns: readonly string[], type: string | null): boolean {
  const wanted = patterns.length === 0 ? [ANY_TYPE] : patterns;
  return wanted.some((pattern) => {
    if (pattern === ANY_TYPE) return type === null || !isReserved(type);
    if (type === null) return false;
    return pattern === type || (pattern.endsWith(ANY_FURTHER) && type.startsWith(pattern.slice(0, -1)));
  });
}
