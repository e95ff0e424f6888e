import type { IncomingMessage } from 'node:http';
import { DomainError } from '#kernel/domain-error.js';

/** The beginning of a target that names the host, without user and password (RFC 9112, 3.2.2; RFC 9110, 4.2.4). */
const ORIGIN = /^https?:\/\/[^/?#@]+(?=[/?]|$)/i;
/** A name, an address or nothing, and an optional port (RFC 3986, 3.2.2). Two Host headers arrive as "a, b". */
const HOST = /^(\[[0-9a-f:.]+\]|[\w.~!$&'()*+;=%-]*)(:\d*)?$/i;
/** A path that no route has. */
export const NO_PATH = '/*';

/**
 * The path and query under which a request is routed. A target that is not a path, or that can't be decoded, is replaced
 * by a path that no route has, because the router runs no hook for it.
 */
export function routedTarget({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  if (!isDecodable(url)) return NO_PATH;
  if (url.startsWith('/')) return url;
  if (!ORIGIN.test(url)) return NO_PATH;
  const path = url.replace(ORIGIN, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** What precedes the query of a target. */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

/** Whether the percent-encoding before the query is valid. */
export function isDecodable(target: string): boolean {
  if (!target.includes('%')) return true;
  try {
    decodeURI(pathOf(target));
    return true;
  } catch {
    return false;
  }
}

/**
 * The error of a request that the HTTP parser accepts although the standard forbids it, so that a proxy in front may
 * have understood it differently; undefined for an unambiguous request.
 * @param target as it was sent, before it was routed
 */
export function requestError(request: IncomingMessage, target: string): DomainError | undefined {
  const { headers, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return malformed('The request must be HTTP/1.1 or HTTP/1.0.');
  const { host, 'transfer-encoding': encoding } = headers;
  if (host === undefined ? httpVersion === '1.1' : !HOST.test(host)) {
    return malformed('The request must have exactly one Host header, with a host and an optional port.');
  }
  if (encoding !== undefined && (httpVersion === '1.0' || encoding.toLowerCase() !== 'chunked')) {
    return malformed('The only supported Transfer-Encoding is chunked, in HTTP/1.1.');
  }
  const isPath = target.startsWith('/') || ORIGIN.test(target) || isForServer(request.method, target);
  if (!isPath || target.includes('#')) return malformed('The target must be a path, without a fragment.');
  return isDecodable(target) ? undefined : malformed('The path has invalid percent-encoding.');
}

/** Whether a request asks for the methods of the server as a whole (RFC 9110, 9.3.7). */
export function isForServer(method: string | undefined, target: string): boolean {
  return method === 'OPTIONS' && target === '*';
}

function malformed(detail: string): DomainError {
  return new DomainError('malformed_request', detail);
}
