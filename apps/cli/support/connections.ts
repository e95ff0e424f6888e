import type { ConnectionError } from '#client/index.js';
import { failedRequest, ProxyError } from './fetch.js';

const UNKNOWN_AUTHORITY =
  'The certificate of the service is not signed by an authority that is known here. For one of your own, set ' +
  'NODE_EXTRA_CA_CERTS to the file of its certificate.';
const CLOSED = 'The connection was closed before there was a complete response.';
const UNREACHABLE = 'The service cannot be reached from here.';
const NO_VERSION = 'The service and this program have no version of TLS in common.';
const NO_TLS = 'The service does not speak TLS at this port: is its address one with http://?';

/** A description of an error code of Node.js. */
const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing accepts connections at this address.',
  ENOTFOUND: 'The name of the host is unknown.',
  EAI_AGAIN: 'The name of the host cannot be looked up now.',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  UND_ERR_SOCKET: CLOSED,
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  UND_ERR_CONNECT_TIMEOUT: UNREACHABLE,
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: NO_VERSION,
  ERR_SSL_UNSUPPORTED_PROTOCOL: NO_VERSION,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: 'The certificate of the service has expired.',
  CERT_NOT_YET_VALID: 'The certificate of the service is not valid yet: is the clock of this machine right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the service is for another host.',
};

/** Why there was no response, in sentences. */
export function connectionSentence({ message, code, cause }: ConnectionError): string {
  const sentence = sentenceOf(causeIn(cause)) ?? message.replace(/(?<!\.)$/, '.');
  const { url, proxy = null } = failedRequest(cause) ?? {};
  const isSent = code === 'timed_out' || sentence === CLOSED;
  const said = isSent && !message.startsWith('GET ') ? `${sentence} The outcome is unknown.` : sentence;
  if (proxy !== null) return `${said} ${proxy} is set: is the proxy right?`;
  // As a server does that expects TLS.
  return sentence === CLOSED && url?.protocol === 'http:' ? `${said} Is the address one with https://?` : said;
}

interface Cause {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  /** One for each address that was tried. */
  readonly errors?: readonly unknown[];
}

/** What has made `fetch` fail: the first of the causes that says what it is. */
function causeIn(error: unknown): Cause {
  const found = (error ?? {}) as Cause;
  if (typeof found.code === 'string' || found instanceof ProxyError) return found;
  const inner = found.errors?.[0] ?? found.cause;
  return inner === undefined ? found : causeIn(inner);
}

function sentenceOf(cause: Cause): string | undefined {
  if (cause instanceof ProxyError) return cause.message;
  const code = String(cause.code);
  if (code.startsWith('HPE_') || cause.name === 'HTTPParserError') {
    return 'The response is not HTTP: is the address one with https://?';
  }
  // Such as ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE; the message has numbers and a path of OpenSSL.
  const alert = /^ERR_(?:SSL|TLS)_(.*)/.exec(code)?.[1]?.toLowerCase().replaceAll('_', ' ');
  return SENTENCES[code] ?? (alert && `TLS with the service has failed: ${alert}.`);
}
