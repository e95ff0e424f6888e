import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { fileVersion } from '#platform/process/file-version.js';

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

/** Where the machine says which name servers it has. */
const CONFIGURATION = '/etc/resolv.conf';

/** The part of a resolver that is used. */
type Lookups = Pick<Resolver, 'resolve4' | 'resolve6'>;

/**
 * Asks the name servers itself: the look-up of Node.js runs on four threads, which a few slow names would occupy. Its
 * resolver reads which name servers there are when it is made. So another one is made when the configuration of the
 * machine has changed, as it does when the network moves, and after look-ups that failed for another reason than the name.
 */
export function resolveByDns(
  configuration = CONFIGURATION,
  create: () => Lookups = () => new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES }),
): Resolve {
  let current: { readonly resolver: Lookups; readonly version: string | null } | null = null;
  return async (name) => {
    const version = fileVersion(configuration);
    if (current?.version !== version) current = { resolver: create(), version };
    const { resolver } = current;
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (addresses.length > 0) return addresses;
    const errors = found.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as NodeJS.ErrnoException] : [],
    );
    const servers = errors.find(({ code = '' }) => !OF_THE_NAME.includes(code));
    if (servers !== undefined && current.resolver === resolver) current = null;
    throw servers ?? errors[0] ?? new Error();
  };
}

/** Errors that say something about the name, and not about the name servers. */
const OF_THE_NAME = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];
