import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the client in its canonical form, as the trusted proxies state it. */
    readonly clientAddress: string;
  }
}

/**
 * An address in its canonical form: IPv6 in lower case, compressed and without its zone, IPv4 in the form of IPv6 as
 * IPv4.
 * @returns null for a text that is no address
 */
export function canonicalAddress(text: string): string | null {
  const family = isIP(text);
  if (family === 4) return text;
  return family === 6 ? parsed(text).toString() : null;
}

/** Whose address it is: an IPv4 address itself, or the network of an IPv6 address, as a customer has a whole /64. */
export function networkOf(address: string, prefix = 64): string {
  if (isIP(address) === 0) return address;
  const ip = parsed(address);
  if (ip instanceof ipaddr.IPv4) return ip.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${ip.toString()}/${prefix}`).toString()}/${prefix}`;
}

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/**
 * An address or a network in CIDR notation; IPv4 also in the form of IPv6, whose first 96 bits are the form.
 * @returns null for anything else, and for all addresses
 */
export function networkIn(text: string): Network | null {
  const [, address = '', prefix] = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  if (isIP(address) === 0) return null;
  const ip = parsed(address);
  const max = ip instanceof ipaddr.IPv4 ? 32 : 128;
  const formBits = isIP(address) === 6 && max === 32 ? 96 : 0;
  const bits = prefix === undefined ? max : Number(prefix) - formBits;
  return bits >= 1 && bits <= max ? [ip, bits] : null;
}

/** An item of X-Forwarded-For: an address that may be quoted, in brackets, or followed by a port. */
const ITEM = /^"?(?:\[([^\]]+)\](?::\d*)?|([\d.]+):\d*|([^"]+))"?$/;

function addressIn(item: string): string | null {
  const [, bracketed, withPort, plain = ''] = ITEM.exec(item) ?? [];
  return canonicalAddress(bracketed ?? withPort ?? plain);
}

/** The proxies whose `X-Forwarded-For` is believed. */
export class TrustedProxies {
  private readonly networks: readonly Network[];

  /** @param networks addresses and networks in CIDR notation */
  constructor(networks: readonly string[]) {
    this.networks = networks.map(networkIn).filter((network) => network !== null);
  }

  /** @param address in its canonical form */
  includes(address: string): boolean {
    if (this.networks.length === 0 || isIP(address) === 0) return false;
    const ip = ipaddr.parse(address);
    return this.networks.some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits));
  }

  /**
   * The last address that is not a trusted proxy, starting with the address of the connection. If an entry is not an
   * address, the proxy that wrote it is returned.
   */
  clientOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    let client = canonicalAddress(socket.remoteAddress ?? '') ?? '';
    if (this.networks.length === 0) return client;
    // Several header lines have been joined. From the end, since a client may send as many items as it likes.
    let rest = [headers['x-forwarded-for'] ?? []].flat().join(',');
    while (rest !== '' && this.includes(client)) {
      const start = rest.lastIndexOf(',') + 1;
      const item = rest.slice(start).trim();
      rest = rest.slice(0, Math.max(0, start - 1));
      if (item === '') continue;
      const address = addressIn(item);
      if (address === null) break;
      client = address;
    }
    return client;
  }
}

/** Gives requests their `clientAddress`, which is determined once. */
export function addClientAddress(fastify: FastifyInstance, proxies: TrustedProxies): void {
  const known = new WeakMap<IncomingMessage, string>();
  fastify.decorateRequest('clientAddress', {
    getter() {
      const address = known.get(this.raw) ?? proxies.clientOf(this.raw);
      known.set(this.raw, address);
      return address;
    },
  });
}

/** @param text an address */
function parsed(text: string): ipaddr.IPv4 | ipaddr.IPv6 {
  return ipaddr.process(text.replace(/%.*$/, ''));
}
