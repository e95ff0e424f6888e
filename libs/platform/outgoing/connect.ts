import { constants } from 'node:crypto';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { trustedAuthorities } from '../process/tls-files.js';

/** The host has an address that is not allowed. */
export class ForbiddenAddress extends Error {
  constructor() {
    super('The address is not allowed.');
  }
}

/** Which hosts may be reached. */
export interface Reach {
  /** Looks up a name, instead of the system. */
  readonly lookup?: LookupFunction;
  readonly isAllowed: (address: string) => boolean;
}

export interface Connected {
  /** What HTTP reads and writes. */
  readonly socket: Socket;
  /** The connection below TLS, or the same. */
  readonly wire: Socket;
}

let latest: { readonly ca: string[] | undefined; readonly connect: buildConnector.connector } | undefined;

/** Made anew only when the authorities have changed, because it reads the certificates of all of them. */
function tlsConnector(): buildConnector.connector {
  const ca = trustedAuthorities();
  if (latest === undefined || latest.ca !== ca) {
    const connect = buildConnector({
      allowH2: false,
      // The request has a deadline.
      timeout: 0,
      // A receiver must not make us negotiate keys again and again.
      secureContext: createSecureContext({ ca, secureOptions: constants.SSL_OP_NO_RENEGOTIATION }),
    });
    latest = { ca, connect };
  }
  return latest.connect;
}

/**
 * Connects to allowed addresses only. They are checked when connecting, so that a name can't change in between: a literal
 * address, and the peer of the socket before anything is sent; `lookup` checks the addresses of names.
 * @returns what ends the attempt
 */
export function connect(
  { lookup, isAllowed }: Reach,
  options: buildConnector.Options,
  callback: (...result: [error: null, connected: Connected] | [error: Error, connected: null]) => void,
): () => void {
  const { hostname, protocol, port } = options;
  const isTls = protocol === 'https:';
  // A literal is not looked up.
  if (isIP(hostname) !== 0 && !isAllowed(hostname)) {
    callback(new ForbiddenAddress(), null);
    return () => undefined;
  }
  const wire = connectTcp({
    host: hostname,
    port: Number(port === '' ? (isTls ? 443 : 80) : port),
    ...(lookup !== undefined && { lookup }),
    ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 },
  });
  const fail = (error: Error) => {
    wire.destroy();
    callback(error, null);
  };
  wire.once('error', fail);
  wire.once('connect', () => {
    wire.off('error', fail);
    if (!isAllowed(wire.remoteAddress ?? '')) {
      fail(new ForbiddenAddress());
    } else if (isTls) {
      wire.on('error', () => undefined);
      tlsConnector()({ ...options, httpSocket: wire }, (error, socket) => {
        if (error !== null) {
          fail(error);
          return;
        }
        socket.once('close', () => wire.destroy());
        callback(null, { socket, wire });
      });
    } else callback(null, { socket: wire, wire });
  });
  return () => wire.destroy();
}
