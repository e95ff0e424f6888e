import type { Dispatcher, Pool } from 'undici';
import { readProxies } from './proxies.js';

/** What a proxy did instead of passing a request on, as a sentence. */
export class ProxyError extends Error {}

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
  const proxyFor = readProxies();
  const send = proxiedFetch();
  return async (input, init) => {
    const url = new URL(input);
    const proxy = proxyFor(url);
    try {
      return await (proxy === undefined ? fetch(input, init) : send(proxy.uri, url.href, init));
    } catch (error) {
      failures.set(error as object, { url, proxy: proxy?.variable ?? null });
      throw error;
    }
  };
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
