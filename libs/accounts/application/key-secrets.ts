import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { base32 } from '#kernel/typeid.js';

/** Of an API key, and of the token of a link to the portal. */
const PREFIXES = { key: 'slc_', link: 'slp_' } as const;
type Kind = keyof typeof PREFIXES;
/** 160 random bits, as 32 characters of base32. */
const RANDOM_BYTES = 20;
/** 40 bits, as 8 characters: enough that guesses cost no query. */
const MAC_BYTES = 5;
const FORM = /^sl[cp]_[0-9a-hjkmnp-tv-z]{40}$/;

/**
 * API keys, and tokens of links to the portal: `slc_` or `slp_`, 160 random bits and a MAC of both, by which keys that were
 * never issued are rejected without a query. Only a keyed hash is stored. A fast one suffices, since 160 bits cannot be guessed: see docs/adr/0004.
 */
export class KeySecrets {
  private readonly peppers: readonly string[];

  /**
   * @param pepper the service's secret, the same for every process
   * @param previous a further pepper whose keys are accepted; the MAC in a key binds it to its pepper
   */
  constructor(
    private readonly pepper: string,
    previous: string | null = null,
  ) {
    this.peppers = previous === null ? [pepper] : [pepper, previous];
  }

  /** Identify the peppers, the previous one last, and reveal nothing of them. */
  get fingerprints(): readonly string[] {
    return this.peppers.map((pepper) => hmac(pepper, 'fingerprint', '').toString('hex'));
  }

  /** A new key and the hash to store. */
  issue(kind: Kind = 'key'): { readonly key: string; readonly hash: Buffer } {
    const body = PREFIXES[kind] + base32(randomBytes(RANDOM_BYTES));
    const key = body + mac(this.pepper, body);
    return { key, hash: hmac(this.pepper, 'hash', key) };
  }

  /** The hash under which a key or token is stored, 32 bytes; null for a text that is none of this service. */
  hash(key: string, kind: Kind = 'key'): Buffer | null {
    const pepper = key.startsWith(PREFIXES[kind]) ? this.pepperOf(key) : undefined;
    return pepper === undefined ? null : hmac(pepper, 'hash', key);
  }

  /** Whether a text is a key or token that this service has issued, valid or not: its MAC is right. */
  isOurs(key: string): boolean {
    return this.pepperOf(key) !== undefined;
  }

  /** The pepper under which a key was issued. */
  private pepperOf(key: string): string | undefined {
    if (!FORM.test(key)) return undefined;
    const [body, end] = [key.slice(0, -8), Buffer.from(key.slice(-8))];
    return this.peppers.find((pepper) => timingSafeEqual(Buffer.from(mac(pepper, body)), end));
  }
}

function mac(pepper: string, body: string): string {
  return base32(hmac(pepper, 'mac', body).subarray(0, MAC_BYTES));
}

// The purpose is hashed as well: otherwise the end of each key would reveal bits of its stored hash.
function hmac(pepper: string, purpose: string, text: string): Buffer {
  return createHmac('sha256', pepper).update(`${purpose}:${text}`).digest();
}
