/** Of one endpoint. */
export const MAX_HEADERS = 20;
/** Characters, which are bytes. */
export const MAX_HEADER_NAME = 100;
export const MAX_HEADER_VALUE = 2_048;
/** Of all names and values together: many servers accept no more than 8 KiB in all. */
export const MAX_HEADERS_BYTES = 6_144;

/** Values by name, in the order in which they are sent. Any token is a name: `__proto__`, too. */
export type EndpointHeaders = Readonly<Record<string, string>>;

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110, 5.5, without the bytes beyond ASCII: it begins and ends with a visible character. */
const VALUE = /^[!-~](?:[\t -~]*[!-~])?$/;

/** How a request is framed and routed, and what Sluice sends itself. */
const RESERVED = new Set([
  ...['host', 'connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'http2-settings', 'expect'],
  ...['user-agent', 'traceparent', 'tracestate', 'cookie', 'via'],
]);
const RESERVED_PREFIXES = ['content-', 'webhook-', 'proxy-'];

function isReserved(name: string): boolean {
  return RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Why headers can't be of an endpoint, as a sentence that contains no value; null when they can. */
export function headersError(headers: Readonly<Record<string, unknown>>): string | null {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) return `headers must have at most ${MAX_HEADERS} names.`;
  const names = new Set<string>();
  let bytes = 0;
  for (const [name, value] of entries) {
    if (name.length > MAX_HEADER_NAME || !TOKEN.test(name)) {
      return `The names of headers must be 1 to ${MAX_HEADER_NAME} of the characters that HTTP allows, like X-Tenant.`;
    }
    const lowerCase = name.toLowerCase();
    if (isReserved(lowerCase)) return `headers must not contain ${lowerCase}.`;
    if (names.has(lowerCase)) return `headers must contain ${lowerCase} only once.`;
    names.add(lowerCase);
    if (typeof value !== 'string' || value.length > MAX_HEADER_VALUE || !VALUE.test(value)) {
      return (
        `The values of headers must be strings of 1 to ${MAX_HEADER_VALUE} characters: visible ASCII, and spaces or ` +
        'tabs between them.'
      );
    }
    bytes += name.length + value.length;
  }
  return bytes > MAX_HEADERS_BYTES ? `headers must have at most ${MAX_HEADERS_BYTES} characters in all.` : null;
}
