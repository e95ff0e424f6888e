import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { Resolve } from './addresses.js';

/** The host has an address that is not allowed. */
export class ForbiddenAddress extends Error {
  constructor() {
    super('The address is not allowed.');
  }
}

/**
 * Connects only to allowed addresses. They are checked when connecting, so that a name can't change in between: a
 * literal address, all addresses of a name, of which it then uses one, and the peer of the socket.
 */
export function guardedConnector(
  resolve: Resolve,
  isAllowed: (address: string) => boolean,
  timeoutMs: number,
): buildConnector.connector {
  const lookup: LookupFunction = (name, options, callback) => {
    void resolve(name)
      .then((addresses) => {
        if (!addresses.every(isAllowed)) throw new ForbiddenAddress();
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (options.all === true) callback(null, found);
        else callback(null, found[0]?.address ?? '', found[0]?.family);
      })
      .catch((error: unknown) => {
        callback(error as Error, []);
      });
  };
  const connect = buildConnector({ timeout: timeoutMs, lookup, allowH2: false });
  return (options, callback) => {
    // A literal is not looked up.
    if (isIP(options.hostname) !== 0 && !isAllowed(options.hostname)) {
      callback(new ForbiddenAddress(), null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
      } else if (isAllowed(socket.remoteAddress ?? '')) {
        callback(null, socket);
      } else {
        socket.destroy();
        callback(new ForbiddenAddress(), null);
      }
    });
  };
}
