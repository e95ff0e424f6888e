import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { base32 } from '#kernel/typeid.js';

const PREFIX = 'slc_';
/** 160 random bits, as 32 characters of base32. */
const RANDOM_BYTES = 20;
/** 40 bits, as 8 characters: enough that a guess costs no query, short enough to type. */
const MAC_BYTES = 5;
const FORM = /^slc_[0-9a-hjkmnp-tv-z]{40}$/;

/**
 * API keys: `slc_`, 160 random bits, and a MAC of both, so that what this service never issued is told without a
 * look-up. Kept is only a keyed hash; a fast one is right, since nobody can guess 160 bits (see docs/adr).
 */
export class KeySecrets {
  /** @param pepper the service's secret, the same for every process */
  constructor(private readonly pepper: string) {}

  /** A new key and the hash under which to keep it. */
  issue(): { readonly key: string; readonly hash: Buffer } {
    const body = PREFIX + base32(randomBytes(RANDOM_BYTES));
    const key = body + this.mac(body);
    return { key, hash: this.hmac('hash', key) };
  }

  /** The hash under which a key is kept: 32 bytes; null for what this service never issued. */
  hash(key: string): Buffer | null {
    return this.isOurs(key) ? this.hmac('hash', key) : null;
  }

  /** Whether this service has issued a key, at whatever time. */
  isOurs(key: string): boolean {
    if (!FORM.test(key)) return false;
    return timingSafeEqual(Buffer.from(this.mac(key.slice(0, -8))), Buffer.from(key.slice(-8)));
  }

  private mac(body: string): string {
    return base32(this.hmac('mac', body).subarray(0, MAC_BYTES));
  }

  // The purpose is part of what is hashed: without it, the end of each key would tell bits of its stored hash.
  private hmac(purpose: string, text: string): Buffer {
    return createHmac('sha256', this.pepper).update(`${purpose}:${text}`).digest();
  }
}
