import { AnswerTooLong, ForbiddenAddress } from '#platform/outgoing/connections.js';
import { LookupFailed } from './guarded-lookup.js';

/** Why a name has no address: codes of c-ares and of getaddrinfo(). */
const LOOKUP: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name does not exist.',
  EAI_NONAME: 'The host name does not exist.',
  ENODATA: 'The host name has no address.',
  EAI_NODATA: 'The host name has no address.',
  EBADNAME: 'The host name is not valid in DNS.',
  ESERVFAIL: 'The host name could not be looked up: its name servers failed. Check its DNS zone and DNSSEC.',
  EREFUSED: 'The host name could not be looked up: its name servers refused.',
  ETIMEOUT: 'The host name could not be looked up in time.',
  EAI_AGAIN: 'The host name could not be looked up in time.',
};

const PLAIN: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection.',
  EPIPE: 'The receiver closed the connection.',
  UND_ERR_SOCKET: 'The receiver closed the connection.',
  ETIMEDOUT: 'The receiver did not accept the connection in time.',
  EHOSTUNREACH: 'The receiver cannot be reached: there is no route to its address.',
  ENETUNREACH: 'The receiver cannot be reached: there is no route to its address.',
};

/**
 * How undici reports answers that its parser lets pass: with another length than their header says, a status of 000, or one of
 * 101, which nobody has asked for.
 */
const INVALID = ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'ERR_ASSERTION', 'bad upgrade'];

/** Of several addresses, one where something responded says more than one without. */
const RESPONDED = ['ECONNREFUSED', 'ECONNRESET'];

/** What is wrong with the certificate of a receiver, or with its TLS, by the codes of Node.js and OpenSSL. */
const TLS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it, or one that signs it, has expired. Renew it, and check that the server loads the new one',
  CERT_NOT_YET_VALID: 'it is not valid yet. Check the clock of the machine that issued it',
  CERT_REVOKED: 'it was revoked. Issue another one',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed. Use one of a public certificate authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate authority is not a public one. Use one of a public certificate authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the chain is incomplete. Configure the server to send its intermediate certificates as well',
  UNABLE_TO_GET_ISSUER_CERT:
    'the chain is incomplete. Configure the server to send its intermediate certificates as well',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its issuer is unknown. Configure the server to send its intermediate certificates, and use one of a public certificate authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host name. Use one that names the host of the URL',
  INVALID_PURPOSE: 'it is not for servers. Issue one for server authentication',
  CA_MD_TOO_WEAK: 'it is signed with an algorithm that is too weak. Issue another one',
  EE_KEY_TOO_SMALL: 'its key is too short. Issue another one',
};

const NO_TLS = 'The receiver does not speak TLS at this port. Use http:// or another port';
const OLD_TLS = 'The receiver supports no version of TLS from 1.2 on. Enable TLS 1.2 or 1.3';
const NO_CIPHER = 'The receiver refused the TLS handshake: it may support no common cipher, or not know this host name';

/** Failures of the handshake, by a part of the code. */
const HANDSHAKE: readonly (readonly [RegExp, string])[] = [
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/, NO_TLS],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|VERSION_TOO_LOW/, OLD_TLS],
  [/CERTIFICATE_REQUIRED|BAD_CERTIFICATE/, 'The receiver requires a certificate of the client, which is not supported'],
  [/UNRECOGNIZED_NAME/, 'The receiver has no certificate for this host name'],
  [/HANDSHAKE_FAILURE|NO_SHARED_CIPHER|INSUFFICIENT_SECURITY|NO_CIPHERS_AVAILABLE/, NO_CIPHER],
];

/**
 * Why there was no answer, for the account: a sentence that says what to do where there is something. Without addresses,
 * because the account may know the name of the host only.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof ForbiddenAddress) return 'The host is not public: one of its addresses is not allowed.';
  if (error instanceof AnswerTooLong) return 'The headers of the answer are too large, or too much precedes them.';
  if (error instanceof LookupFailed) return LOOKUP[error.code] ?? 'The host name could not be looked up.';
  if (error instanceof AggregateError && error.errors.length > 0) {
    const errors = error.errors as NodeJS.ErrnoException[];
    return reasonOf(errors.find(({ code = '' }) => RESPONDED.includes(code)) ?? errors[0]);
  }
  const { code = '', message, name } = error as NodeJS.ErrnoException;
  if (name === 'HTTPParserError' || INVALID.includes(code) || INVALID.includes(message))
    return 'The request failed: the answer is not valid HTTP/1.1.';
  const known = PLAIN[code] ?? tlsReason(code);
  if (known !== undefined) return known;
  return `The request failed (${code === '' ? message : code}).`;
}

function tlsReason(code: string): string | undefined {
  const certificate = TLS[code.replace(/^ERR_SSL_/, '')] ?? TLS[code];
  if (certificate !== undefined) return `The receiver has no valid TLS certificate: ${certificate} (${code}).`;
  if (code.startsWith('ERR_SSL_')) {
    const sentence = HANDSHAKE.find(([part]) => part.test(code))?.[1] ?? 'The TLS handshake with the receiver failed';
    return `${sentence} (${code}).`;
  }
  return /CERT|TLS|SSL/.test(code) ? `The receiver has no valid TLS certificate (${code}).` : undefined;
}
