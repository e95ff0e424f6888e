import { BlockList, isIP } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import { CliError, EXIT } from './exit-codes.js';

/** What a proxy did instead of passing a request on, as a sentence. */
export class ProxyError extends Error {}

/** A proxy of the environment, and the variable that names it. */
interface Proxied {
  readonly variable: string;
  readonly uri: string;
}

/** What a failed request is found to have been, beside its error. */
export interface Failed {
  readonly url: URL;
  /** The variable that names the proxy by which it was sent; null without one. */
  readonly proxy: string | null;
}

const failures = new WeakMap<object, Failed>();

/** Of an error of `networkFetch`. */
export function failedRequest(error: unknown): Failed | undefined {
  return typeof error === 'object' && error !== null ? failures.get(error) : undefined;
}

/** `fetch` by the proxies of the environment, as curl uses them. */
export function networkFetch(): typeof fetch {
  const all = proxyIn('all_proxy');
  const proxies = new Map([
    ['http:', proxyIn('http_proxy') ?? all],
    ['https:', proxyIn('https_proxy') ?? all],
  ]);
  const direct = setting('no_proxy')?.text ?? '';
  const send = proxiedFetch();
  return async (input, init) => {
    const url = new URL(input);
    const proxy = isDirect(url, direct) ? undefined : proxies.get(url.protocol);
    try {
      return await (proxy === undefined ? fetch(input, init) : send(proxy.uri, url.href, init));
    } catch (error) {
      failures.set(error as object, { url, proxy: proxy?.variable ?? null });
      throw error;
    }
  };
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

function proxiedFetch() {
  const agents = new Map<string, Dispatcher>();
  return async (uri: string, url: string, init?: RequestInit) => {
    const undici = await import('undici');
    const clientFactory = (origin: URL, options: object) => telling(new undici.Pool(origin, options));
    // Plain HTTP is not tunnelled: many proxies allow that for port 443 only.
    const dispatcher = agents.get(uri) ?? new undici.ProxyAgent({ uri, proxyTunnel: false, clientFactory });
    agents.set(uri, dispatcher);
    return undici.fetch(url, { ...init, dispatcher } as object).catch((error: unknown) => {
      // undici takes that of a proxy without a tunnel for a mistake of its caller.
      const { cause } = error as { cause?: Error };
      throw cause?.message.includes('(407)') ? new TypeError('fetch failed', { cause: refusalOf(407) }) : error;
    });
  };
}

/**
 * Connections to a proxy that say why there is no tunnel. undici keeps it to itself, and would ask for one again without end
 * when a proxy closes the connection.
 */
function telling(pool: Pool): Pool {
  const connect = async (options: Dispatcher.ConnectOptions) => {
    const opened = await pool.connect(options).catch((cause: unknown) => {
      throw hasCode(cause, 'UND_ERR_SOCKET')
        ? new ProxyError('The proxy has closed the connection.', { cause })
        : cause;
    });
    if (opened.statusCode === 200) return opened;
    opened.socket.destroy();
    throw refusalOf(opened.statusCode);
  };
  return new Proxy(pool, {
    get: (target, name) => (name === 'connect' ? connect : (Reflect.get(target, name, target) as unknown)),
  });
}

function hasCode(error: unknown, code: string): boolean {
  return (error as { code?: unknown }).code === code;
}

function refusalOf(status: number): ProxyError {
  return new ProxyError(
    status === 407
      ? 'The proxy asks for a user and a password: http://user:password@proxy.example.com:3128.'
      : `The proxy has refused to connect to the service, with the status ${status}.`,
  );
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
