import { BlockList, isIP } from 'node:net';
import { CliError, EXIT } from './exit-codes.js';

/** A proxy of the environment, and the variable that names it. */
export interface Proxied {
  readonly variable: string;
  readonly uri: string;
}

/**
 * The proxies of the environment, as curl uses them.
 * @returns which one leads to a URL; undefined for none
 */
export function readProxies(): (url: URL) => Proxied | undefined {
  const all = proxyIn('all_proxy');
  const proxies = new Map([
    ['http:', proxyIn('http_proxy') ?? all],
    ['https:', proxyIn('https_proxy') ?? all],
  ]);
  const direct = setting('no_proxy')?.text ?? '';
  return (url) => (isDirect(url, direct) ? undefined : proxies.get(url.protocol));
}

/** The first of these variables that is set: in lower case first, as curl does. An empty one counts as not set. */
function setting(name: string): { readonly variable: string; readonly text: string } | undefined {
  return [name, name.toUpperCase()]
    .map((variable) => ({ variable, text: process.env[variable] ?? '' }))
    .find(({ text }) => text !== '');
}

/**
 * Whether a host is reached without a proxy: a list names it or a domain above it, perhaps with a port, its address or the
 * network of its address, such as 10.0.0.0/8.
 */
function isDirect({ protocol, hostname, port }: URL, list: string): boolean {
  const host = hostname.replaceAll(/[[\]]|\.$/g, '');
  const actual = port || (protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, name = entry, wanted = actual] =
        /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? /^([^:]*):(\d+)$/.exec(entry) ?? [];
      const domain = name.replace(/^\*?\.|\.$/g, '');
      if (wanted !== actual || domain === '') return false;
      return domain === '*' || host === domain || host.endsWith(`.${domain}`) || isWithin(host, domain);
    });
}

/** Whether an address is in a network; false for names, and for what is no network. */
function isWithin(host: string, network: string): boolean {
  const [address = '', bits] = network.split('/');
  const [family, longest] = isIP(address) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  if (isIP(host) !== isIP(address) || isIP(host) === 0 || !/^\d*$/.test(bits ?? '')) return false;
  const length = Number(bits ?? longest);
  if (bits === '' || length > longest) return false;
  const addresses = new BlockList();
  addresses.addSubnet(address, length, family);
  return addresses.check(host, family);
}

function proxyIn(name: string): Proxied | undefined {
  const found = setting(name);
  if (found === undefined) return undefined;
  const { variable, text } = found;
  try {
    const { protocol, username, password, host } = new URL(text.includes('://') ? text : `http://${text}`);
    decodeURIComponent(username + password);
    const uri = `${protocol}//${username}:${password}@${host}`.replace('//:@', '//');
    if (/^https?:$/.test(protocol)) return { variable, uri };
  } catch {
    // It is no URL.
  }
  // Without the URL, which may have a password.
  throw new CliError(`${variable} must be a URL like http://proxy.example.com:3128.`, EXIT.usage);
}
