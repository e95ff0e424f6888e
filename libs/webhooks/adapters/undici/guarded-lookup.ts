import { isIP, type LookupFunction } from 'node:net';
import { ForbiddenAddress } from '#platform/outgoing/connections.js';
import type { Resolve } from './addresses.js';

/** A name could not be looked up: these codes mean something else when they come from a connection. */
export class LookupFailed extends Error {
  constructor(readonly code: string) {
    super(`The look-up failed: ${code}`);
  }
}

/** Finds the addresses of a name, if all of them are allowed. */
export function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (name, options, callback) => {
    void resolve(name)
      .then((addresses) => {
        if (!addresses.every(isAllowed)) throw new ForbiddenAddress();
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (options.all === true) callback(null, found);
        else callback(null, found[0]?.address ?? '', found[0]?.family);
      })
      .catch((error: unknown) => {
        const failed =
          error instanceof ForbiddenAddress ? error : new LookupFailed((error as { code?: string }).code ?? '');
        callback(failed, []);
      });
  };
}
