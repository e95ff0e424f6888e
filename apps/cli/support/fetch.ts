import type { Dispatcher, Pool } from 'undici';
import { CliError, EXIT } from './exit-codes.js';

/** What a proxy did instead of passing a request on, as a sentence. */
export class ProxyError extends Error {}

/** A variable that names a proxy: in lower case first, as curl does. An empty one counts as not set. */
function setting(name: string): string | undefined {
  return [process.env[name], process.env[name.toUpperCase()]].find((text) => text !== undefined && text !== '');
}

/** `fetch` by the proxy of the environment, as curl uses it; undefined if there is none. */
export function proxiedFetch(): typeof fetch | undefined {
  const [httpProxy, httpsProxy] = [proxyIn('http_proxy'), proxyIn('https_proxy')];
  if (httpProxy === undefined && httpsProxy === undefined) return undefined;
  // Plain HTTP is not tunnelled: many proxies allow that for port 443 only.
  const options = {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    noProxy: setting('no_proxy') ?? '',
    proxyTunnel: false,
  };
  const loaded = import('undici').then((undici) => {
    const clientFactory = (origin: URL, options: object) => telling(new undici.Pool(origin, options));
    const dispatcher = new undici.EnvHttpProxyAgent({ ...options, clientFactory });
    return (...[input, init]: Parameters<typeof fetch>) =>
      undici.fetch(input as string, { ...init, dispatcher } as object).catch((error: unknown) => {
        // undici takes that of a proxy without a tunnel for a mistake of its caller.
        const { cause } = error as { cause?: Error };
        throw cause?.message.includes('(407)') ? new TypeError('fetch failed', { cause: refusalOf(407) }) : error;
      });
  });
  return async (input, init) => (await loaded)(input, init);
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

/** The variable of a proxy that is set; null if there is none. */
export function proxyVariable(): string | null {
  return ['http_proxy', 'https_proxy'].find((name) => setting(name) !== undefined)?.toUpperCase() ?? null;
}

function proxyIn(name: string): string | undefined {
  const text = setting(name);
  if (text === undefined) return undefined;
  try {
    const { protocol, username, password, host } = new URL(text.includes('://') ? text : `http://${text}`);
    decodeURIComponent(username + password);
    if (/^https?:$/.test(protocol)) return `${protocol}//${username}:${password}@${host}`.replace('//:@', '//');
  } catch {
    // It is no URL.
  }
  // Without the URL, which may have a password.
  throw new CliError(`${name.toUpperCase()} must be a URL like http://proxy.example.com:3128.`, EXIT.usage);
}
