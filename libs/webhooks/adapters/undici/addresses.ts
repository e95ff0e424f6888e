import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Public by their range, but only reachable inside a cloud: the host agent of Azure. */
const METADATA = ['168.63.129.16'];

/**
 * The part of IPv6 that is assigned to public unicast. Addresses that translate to IPv4 are outside of it, or in a
 * separate range of ipaddr.js.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is one that anyone on the Internet can reach. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || METADATA.includes(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}

/** The address that a URL names instead of a host, without the brackets of IPv6; null for a name. */
export function addressIn({ hostname }: URL): string | null {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) === 0 ? null : address;
}

/** Looks up all addresses of a name; at least one. */
export type Resolve = (name: string) => Promise<readonly string[]>;

const LOOKUP_TIMEOUT_MS = 2_000;
const LOOKUP_TRIES = 2;

/** Asks the name servers itself: the look-up of Node.js runs on four threads, which a few slow names would occupy. */
export function resolveByDns(): Resolve {
  const resolver = new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES });
  return async (name) => {
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (addresses.length > 0) return addresses;
    throw found.map((result) => (result.status === 'rejected' ? (result.reason as Error) : null))[0] ?? new Error();
  };
}
