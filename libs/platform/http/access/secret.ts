import { hash, timingSafeEqual } from 'node:crypto';

/** A secret that others are compared with. Only its digest is in memory. */
export class Secret {
  private readonly digest: Buffer;

  constructor(secret: string) {
    this.digest = digest(secret);
  }

  matches(presented: string): boolean {
    return timingSafeEqual(digest(presented), this.digest);
  }
}

/** A key of an operator. Several keys may have one name, for example while one replaces another. */
export interface OperatorKey {
  readonly name: string;
  readonly key: string;
}

/** The keys of operators. */
export class OperatorKeys {
  private readonly keys: readonly { readonly name: string; readonly secret: Secret }[];

  constructor(keys: readonly OperatorKey[]) {
    this.keys = keys.map(({ name, key }) => ({ name, secret: new Secret(key) }));
  }

  /** The name of the operator with this key; undefined for any other key. */
  nameOf(presented: string): string | undefined {
    return this.keys.find(({ secret }) => secret.matches(presented))?.name;
  }
}

// Digests have equal lengths, so that the time of the comparison reveals nothing.
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
