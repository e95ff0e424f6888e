import type { RedisOptions } from 'ioredis';
import { clientCertificateIn, renewedTlsOptions, type TlsSettings } from '../process/tls-files.js';
import { filled, hostIn, readingUrl, splitUrl, UrlError } from '../process/url-text.js';

/** A parsed URL of Redis. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number | undefined;
  /** Of a Unix socket, instead of host and port. */
  readonly path: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly db: number;
  readonly family: number | undefined;
  /** Null without TLS. */
  readonly tls: TlsSettings | null;
}

export const REDIS_URL_FORM =
  'a URL like redis://user:password@host:6379/0, or several of sentinels or servers of a cluster, separated by commas';

const SSL_MODES = ['require', 'verify-ca', 'verify-full'];
const PARAMETERS = ['db', 'family', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword'];

/** @throws UsageError, without any part of the URL */
export function parseRedisUrl(url: string): RedisAddress {
  return readingUrl('REDIS_URL', url, addressIn);
}

function addressIn(url: string): RedisAddress {
  const [, scheme, text = ''] = /^(?:(rediss?|unix):\/)?\/(.*)$/s.exec(url) ?? [];
  if (text === '') throw new UrlError(REDIS_URL_FORM);
  const isSocket = scheme === undefined || scheme === 'unix';
  const { user, password, hosts, path, parameters } = splitUrl(scheme === undefined ? `/${text}` : text);
  const isUnknown = [...parameters.keys()].some((name) => !PARAMETERS.includes(name));
  // Not the name itself: it may be a part of a password that is not percent-encoded.
  if (isUnknown) throw new UrlError(`a URL with no other parameters than ${PARAMETERS.join(', ')}`);
  const address = hostIn(hosts);
  if (address === undefined || (isSocket ? hosts !== '' || path === '' : address.host === '')) {
    throw new UrlError(REDIS_URL_FORM);
  }
  const ofPath = isSocket ? '' : path;
  const db = parameters.get('db') ?? ofPath;
  if (!/^\d{0,9}$/.test(db)) throw new UrlError('a URL whose database is a whole number');
  if (ofPath !== '' && ofPath !== db) throw new UrlError('a URL whose path and db are the same database');
  const family = parameters.get('family');
  if (family !== undefined && !['4', '6'].includes(family)) throw new UrlError('a URL whose family is 4 or 6');
  return {
    host: address.host,
    port: address.port === '' ? undefined : Number(address.port),
    path: isSocket ? `/${path}` : undefined,
    username: user,
    password,
    db: Number(db),
    family: family === undefined ? undefined : Number(family),
    tls: tlsIn(scheme === 'rediss', (name) => filled(parameters.get(name))),
  };
}

/** With the meaning of `sslmode` and the others in DATABASE_URL; without any, the certificate must be for the host. */
function tlsIn(encrypted: boolean, read: (name: string) => string | undefined): TlsSettings | null {
  const mode = read('sslmode') ?? 'verify-full';
  const ca = read('sslrootcert');
  if (!SSL_MODES.includes(mode)) throw new UrlError('a URL whose sslmode is require, verify-ca or verify-full');
  if (!encrypted) {
    if (PARAMETERS.some((name) => name.startsWith('ssl') && read(name) !== undefined)) {
      throw new UrlError('a URL that begins with rediss:// if it has parameters for TLS');
    }
    return null;
  }
  if (mode === 'verify-ca' && ca === undefined) {
    throw new UrlError('a URL with an sslrootcert if its sslmode is verify-ca');
  }
  return {
    verification: mode === 'verify-full' ? 'name' : ca === undefined ? 'none' : 'chain',
    ca: ca === 'system' ? undefined : ca,
    ...clientCertificateIn(read),
  };
}

/** Who connects, and how it is encrypted. */
export function credentialsOf({ username, password, tls }: RedisAddress): RedisOptions {
  return {
    ...(username !== undefined && username !== '' && { username }),
    ...(password !== undefined && password !== '' && { password }),
    ...(tls !== null && { tls: renewedTlsOptions(tls, 'REDIS_URL') }),
  };
}

/** All options of a connection to this server. */
export function optionsOf(address: RedisAddress): RedisOptions {
  const { host, port = 6_379, path, db, family } = address;
  return {
    ...(path === undefined ? { host, port } : { path }),
    ...(family !== undefined && { family }),
    ...{ db, ...credentialsOf(address) },
  };
}
