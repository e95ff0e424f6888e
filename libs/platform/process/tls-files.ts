import { readFileSync } from 'node:fs';
import { rootCertificates, type SecureContextOptions } from 'node:tls';
import { fileVersion } from './file-version.js';
import { UrlError } from './url-text.js';

/** How the certificate of a server is checked: not at all, only its CA, or its CA and its host name. */
export type Verification = 'none' | 'chain' | 'name';

export interface TlsSettings {
  readonly verification: Verification;
  /** Paths. Without a `ca`, the public CAs that Node.js knows are trusted, and those in `NODE_EXTRA_CA_CERTS`. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly crl?: string | undefined;
  readonly passphrase?: string | undefined;
  readonly minVersion?: SecureContextOptions['minVersion'];
  readonly maxVersion?: SecureContextOptions['maxVersion'];
}

/**
 * Options of a TLS connection. Files are read anew, so that a connection after a renewal uses the renewed ones.
 * @param variable the setting that names the files
 * @throws Error with the code ERR_TLS_FILE
 */
export function tlsOptions(settings: TlsSettings, variable: string) {
  const { verification, ca, cert, key, crl, passphrase, minVersion, maxVersion } = settings;
  const read = (name: string, path: string | undefined) =>
    path === undefined ? {} : { [name]: readText(path, `the ${name} file in ${variable}`) };
  return {
    rejectUnauthorized: verification !== 'none',
    ...(verification === 'chain' && { checkServerIdentity: () => undefined }),
    ...(ca === undefined ? { ca: trustedAuthorities() } : read('ca', ca)),
    ...read('cert', cert),
    ...read('key', key),
    ...read('crl', crl),
    ...(passphrase !== undefined && { passphrase }),
    ...(minVersion !== undefined && { minVersion }),
    ...(maxVersion !== undefined && { maxVersion }),
  };
}

/**
 * What a URL says of a client's certificate.
 * @param read the value of a parameter
 * @throws UrlError for a certificate without a key, or a key without a certificate: Node.js would send neither
 */
export function clientCertificateIn(read: (name: string) => string | undefined) {
  const [cert, key] = [read('sslcert'), read('sslkey')];
  if ((cert === undefined) !== (key === undefined))
    throw new UrlError('a URL with both sslcert and sslkey, or neither');
  return { cert, key, passphrase: read('sslpassword') };
}

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw Object.assign(new Error(`${what} cannot be read (${code})`), { code: 'ERR_TLS_FILE' });
  }
}

const { NODE_EXTRA_CA_CERTS: EXTRA = '' } = process.env;
let extra: { readonly version: string | null; readonly ca: string[] | undefined } = {
  version: fileVersion(EXTRA),
  ca: undefined,
};

/**
 * The authorities that are trusted if no setting names others. Node.js reads `NODE_EXTRA_CA_CERTS` once: if that file has
 * changed since, it is read anew.
 * @returns the same array as long as the file is the same; undefined for those that Node.js has read
 */
export function trustedAuthorities(): string[] | undefined {
  const version = fileVersion(EXTRA);
  if (version === null || version === extra.version) return extra.ca;
  try {
    const text = readFileSync(EXTRA, 'utf8');
    // Otherwise it is just being replaced.
    if (CERTIFICATES.test(text)) extra = { version, ca: [...rootCertificates, text] };
  } catch {
    // It is just being replaced, too.
  }
  return extra.ca;
}

/** The end of a whole file of certificates. */
const CERTIFICATES = /-----END (TRUSTED )?CERTIFICATE-----\s*$/;

/** Codes of Node for certificates and handshakes. */
export const TLS_ERROR =
  /^(ERR_TLS_\w+|ERR_SSL_\w+|ERR_OSSL_\w+|CERT_\w+|CRL_\w+|UNABLE_TO_\w+|\w*SELF_SIGNED_CERT\w*|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|EPROTO)$/;

/** Alerts by which a server says that it does not accept the certificate of its client, or misses one. */
const CLIENT_REFUSED = /alert (certificate |bad certificate|handshake failure|unknown ca|unsupported certificate)/;

/** Why a TLS connection failed, and the parameters to look at. */
export function tlsFailure(error: unknown): string {
  // OpenSSL's `message` has file names and line numbers around the reason.
  const { message = '', reason } = (error ?? {}) as { readonly message?: string; readonly reason?: string };
  const text = reason ?? message;
  const parameters = CLIENT_REFUSED.test(text) ? 'sslcert and sslkey' : 'sslmode and sslrootcert';
  return `${text}. See ${parameters} in the settings.`;
}

/**
 * The same as an object that a library keeps, and reads for each connection. If a file has become unreadable, the text
 * that was read last is used.
 */
export function renewedTlsOptions(settings: TlsSettings, variable: string): Record<string, unknown> {
  let latest: Record<string, unknown> = tlsOptions(settings, variable);
  const renewed = {};
  for (const name of Object.keys(latest)) {
    Object.defineProperty(renewed, name, {
      enumerable: true,
      get: () => {
        try {
          latest = tlsOptions(settings, variable);
        } catch {
          // A file that is just being replaced.
        }
        return latest[name];
      },
    });
  }
  return renewed;
}
