import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { base32 } from '#kernel/typeid.js';

const PREFIX = 'slc_';
/** 160 random bits, as 32 characters of base32. */
const RANDOM_BYTES = 20;
/** 40 bits, as 8 characters: enough that guesses cost no query. */
const MAC_BYTES = 5;
const FORM = /^slc_[0-9a-hjkmnp-tv-z]{40}$/;

/**
 * API keys: `slc_`, 160 random bits and a MAC of both, by which keys that were never issued are rejected without a query.
 * Only a keyed hash is stored. A fast one suffices, since 160 bits cannot be guessed: docs/adr/0004-api-keys-are-stored-as-keyed-hashes.md.
 */
export class KeySecrets {
  /** @param pepper the service's secret, the same for every process */
  constructor(private readonly pepper: string) {}

  /** A new key and the hash to store. */
  issue(): { readonly key: string; readonly hash: Buffer } {
    const body = PREFIX + base32(randomBytes(RANDOM_BYTES));
    const key = body + this.mac(body);
    return { key, hash: this.hmac('hash', key) };
  }

  /** The stored hash of a key, 32 bytes; null for a key that was never issued. */
  hash(key: string): Buffer | null {
    return this.isOurs(key) ? this.hmac('hash', key) : null;
  }

  /** Whether this service has ever issued a key. */
  isOurs(key: string): boolean {
    if (!FORM.test(key)) return false;
    return timingSafeEqual(Buffer.from(this.mac(key.slice(0, -8))), Buffer.from(key.slice(-8)));
  }

  private mac(body: string): string {
    return base32(this.hmac('mac', body).subarray(0, MAC_BYTES));
  }

  // The purpose is hashed as well: otherwise the end of each key would reveal bits of its stored hash.
  private hmac(purpose: string, text: string): Buffer {
    return createHmac('sha256', this.pepper).update(`${purpose}:${text}`).digest();
  }
}
