import { CliError, EXIT } from './exit-codes.js';

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
    const dispatcher = new undici.EnvHttpProxyAgent(options);
    return (...[input, init]: Parameters<typeof fetch>) =>
      undici.fetch(input as string, { ...init, dispatcher } as object);
  });
  return async (input, init) => (await loaded)(input, init);
}

/** The variable of a proxy that is set; null if there is none. */
export function proxyVariable(): string | null {
  return ['http_proxy', 'https_proxy'].find((name) => setting(name) !== undefined)?.toUpperCase() ?? null;
}

function proxyIn(name: string): string | undefined {
  const text = setting(name);
  if (text === undefined) return undefined;
  const address = text.includes('://') ? text : `http://${text}`;
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return address;
  // Without the URL, which may have a password.
  throw new CliError(`${name.toUpperCase()} must be a URL like http://proxy.example.com:3128.`, EXIT.usage);
}
