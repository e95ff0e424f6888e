import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';

/**
 * Tells whose request it is, as Fastify does for those that come to it.
 * @param trustProxy addresses and networks whose `X-Forwarded-For` is believed
 */
export function clientAddressBehind(trustProxy: readonly string[]): (request: IncomingMessage) => string {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress ?? '';
  const trusts = proxyAddr.compile([...trustProxy]);
  return (request) => proxyAddr(request, trusts);
}
