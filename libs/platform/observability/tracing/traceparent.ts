/** Version 00. A later version begins with the same fields, and more may follow. */
const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/s;

/** The known flags: sampled and random trace id. Others must not be propagated. */
const KNOWN_FLAGS = 0x03;

/**
 * A `traceparent` header (W3C Trace Context, level 2) in the form of version 00.
 * @returns null when it is missing or invalid
 */
export function parseTraceparent(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string') return null;
  const [, version, traceId, parentId, flags = '', rest] = FORM.exec(header) ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return null;
  const known = (parseInt(flags, 16) & KNOWN_FLAGS).toString(16);
  return `00-${traceId}-${parentId}-0${known}`;
}

/** The trace id of a `traceparent` of version 00, for log lines. */
export function traceIdOf(traceparent: string | null): string | undefined {
  return traceparent?.slice(3, 35);
}
