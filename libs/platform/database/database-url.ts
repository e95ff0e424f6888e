import { clientCertificateIn, type TlsSettings, type Verification } from '../process/tls-files.js';
import { filled, hostIn, readingUrl, splitUrl, UrlError } from '../process/url-text.js';

/** One way to connect: a host, and whether with TLS. */
export interface Attempt {
  /** Undefined for the value of PGHOST, or for this machine. A folder if it begins with a slash. */
  readonly host: string | undefined;
  /** The address to connect to, if it differs from `host`. The certificate is checked against `host`. */
  readonly address: string | undefined;
  readonly port: number | undefined;
  readonly encrypted: boolean;
}

/** A parsed connection URI of PostgreSQL. It is interpreted as libpq does. */
export interface DatabaseAddress {
  /** In the order in which they are tried. */
  readonly attempts: readonly Attempt[];
  readonly shuffled: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly options: string;
  readonly applicationName: string | undefined;
  readonly fallbackApplicationName: string | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly keepAlive: boolean;
  readonly keepAliveIdleMs: number | undefined;
  readonly tls: TlsSettings;
  readonly directTls: boolean;
  readonly channelBinding: 'disable' | 'prefer' | 'require';
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];
const SEVERAL = 'a URL whose lists of hosts, addresses and ports have the same length';
const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey', 'sslcrl'];
const TLS_VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;

/** The parameters, each with its values; null if all texts are allowed. */
const PARAMETERS: Readonly<Record<string, RegExp | readonly string[] | null>> = {
  ...{ host: null, hostaddr: null, port: /^[\d,]*$/, user: null, password: null, dbname: null },
  ...{ application_name: null, fallback_application_name: null, options: null, connect_timeout: /^-?\d{1,6}$/ },
  ...{ keepalives: ['0', '1'], keepalives_idle: /^\d{1,6}$/, client_encoding: /^(utf-?8|unicode|auto)$/i },
  ...{ sslmode: [...SSL_MODES, 'no-verify'], ssl: ['true', 'false', '1', '0', 'no-verify'], sslrootcert: null },
  ...{ sslcert: null, sslkey: null, sslpassword: null, sslcrl: null, sslsni: ['1'], sslcompression: ['0'] },
  ...{ ssl_min_protocol_version: TLS_VERSIONS, ssl_max_protocol_version: TLS_VERSIONS },
  ...{ sslnegotiation: ['postgres', 'direct'], channel_binding: ['disable', 'prefer', 'require'] },
  ...{ gssencmode: ['disable', 'prefer'], uselibpqcompat: ['true', 'false'] },
  ...{ target_session_attrs: ['any', 'read-write', 'primary'], load_balance_hosts: ['disable', 'random'] },
};

/** @throws UsageError, without any part of the URL */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  return readingUrl('DATABASE_URL', url, addressIn);
}

function addressIn(url: string): DatabaseAddress {
  const [, text] = /^postgres(?:ql)?:\/\/(.+)$/s.exec(url) ?? [];
  if (text === undefined) throw new UrlError('a URL like postgres://user:password@host:5432/database');
  const { user, password, hosts, path, parameters } = splitUrl(text);
  requireKnown(parameters);
  const read = (name: string) => filled(parameters.get(name));
  const { modes, tls } = tlsIn(read);
  const timeout = Number(read('connect_timeout') ?? 0);
  const idle = Number(read('keepalives_idle') ?? 0);
  const directTls = read('sslnegotiation') === 'direct';
  if (directTls && modes.includes(false)) {
    throw new UrlError('a URL whose sslmode is require, verify-ca or verify-full if its sslnegotiation is direct');
  }
  return {
    attempts: targetsIn(hosts, read).flatMap((target) => {
      // Like libpq: connections by a Unix socket are not encrypted.
      const ways = target.host?.startsWith('/') === true ? [false] : modes;
      return ways.map((encrypted) => ({ ...target, encrypted }));
    }),
    shuffled: read('load_balance_hosts') === 'random',
    user: read('user') ?? user,
    password: read('password') ?? password,
    database: read('dbname') ?? (path === '' ? undefined : path),
    options: read('options') ?? '',
    applicationName: read('application_name'),
    fallbackApplicationName: read('fallback_application_name'),
    connectTimeoutMs: timeout > 0 ? 1_000 * timeout : undefined,
    keepAlive: read('keepalives') !== '0',
    keepAliveIdleMs: idle > 0 ? 1_000 * idle : undefined,
    tls,
    directTls,
    channelBinding: (read('channel_binding') ?? 'prefer') as DatabaseAddress['channelBinding'],
  };
}

function requireKnown(parameters: ReadonlyMap<string, string>): void {
  for (const [name, value] of parameters) {
    const values = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    // Not the name itself: it may be a part of a password that is not percent-encoded.
    if (values === undefined) {
      throw new UrlError(`a URL with no other parameters than ${Object.keys(PARAMETERS).join(', ')}`);
    }
    if (value === '' || values === null) continue;
    if (values instanceof RegExp ? !values.test(value) : !values.includes(value)) {
      throw new UrlError(`a URL whose ${name} is ${values instanceof RegExp ? FORMS[name] : listed(values)}`);
    }
  }
}

const FORMS: Readonly<Record<string, string>> = {
  ...{ port: 'a number from 1 to 65,535 for each host', connect_timeout: 'a whole number of seconds' },
  ...{ keepalives_idle: 'a whole number of seconds', client_encoding: 'UTF8' },
};

function listed(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? '') : `${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`;
}

function targetsIn(hosts: string, read: (name: string) => string | undefined) {
  const written = hosts.split(',').map(hostIn);
  if (written.includes(undefined)) throw new UrlError('a URL like postgres://user:password@host:5432/database');
  const listIn = (name: string) => read(name)?.split(',');
  const names = listIn('host') ?? written.map((one) => one?.host ?? '');
  const addresses = listIn('hostaddr') ?? [];
  const ports = listIn('port') ?? written.map((one) => one?.port ?? '');
  const count = Math.max(names.length, addresses.length);
  const at = (list: readonly string[], index: number) => filled(list.length === 1 ? list[0] : list[index]);
  const isOdd = [names, addresses, ports].some(({ length }) => length > 1 && length !== count);
  if (isOdd) throw new UrlError(SEVERAL);
  return Array.from({ length: count }, (_, index) => {
    const port = at(ports, index);
    if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
      throw new UrlError(`a URL whose port is ${FORMS.port ?? ''}`);
    }
    return {
      host: at(names, index) ?? at(addresses, index),
      address: at(addresses, index),
      port: port === undefined ? undefined : Number(port),
    };
  });
}

/** `modes`: whether to encrypt, in the order in which it is tried. */
function tlsIn(read: (name: string) => string | undefined): { modes: boolean[]; tls: TlsSettings } {
  const ca = read('sslrootcert');
  const isSystem = ca === 'system';
  const mode = modeIn(read);
  if (isSystem && mode !== 'verify-full') {
    throw new UrlError('a URL whose sslmode is verify-full if its sslrootcert is system');
  }
  if (mode === 'verify-ca' && ca === undefined) {
    throw new UrlError('a URL with an sslrootcert if its sslmode is verify-ca');
  }
  const tls = {
    verification: verificationOf(mode, ca),
    ca: isSystem ? undefined : ca,
    ...clientCertificateIn(read),
    crl: read('sslcrl'),
    minVersion: read('ssl_min_protocol_version') as TlsSettings['minVersion'],
    maxVersion: read('ssl_max_protocol_version') as TlsSettings['maxVersion'],
  };
  const modes = { disable: [false], allow: [false, true], prefer: [true, false] }[mode] ?? [true];
  return { modes, tls };
}

/** Without any, libpq tries TLS first; here nothing is encrypted unless the URL says so, since that would not be safe. */
function modeIn(read: (name: string) => string | undefined): string {
  const { ssl = '' } = { ssl: read('ssl') };
  const named = read('sslmode') ?? { true: 'require', 1: 'require', false: 'disable', 0: 'disable' }[ssl] ?? ssl;
  const mode = named === '' ? (process.env.PGSSLMODE ?? '') : named;
  if (mode === 'no-verify') return 'no-verify';
  if (mode !== '' && !SSL_MODES.includes(mode)) throw new UrlError(`a URL whose sslmode is ${listed(SSL_MODES)}`);
  if (mode !== '') return mode;
  // Files that are configured must be used.
  return TLS_FILES.every((name) => read(name) === undefined) ? 'disable' : 'verify-full';
}

function verificationOf(mode: string, ca: string | undefined): Verification {
  if (mode === 'verify-full') return 'name';
  if (mode === 'no-verify' || ca === undefined) return 'none';
  return 'chain';
}
