import fc from 'fast-check';
import { KeySecrets } from './key-secrets.js';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const secrets = new KeySecrets('p'.repeat(32));
const { key, hash } = secrets.issue();

describe('KeySecrets', () => {
  it('issues keys that scanners recognise, of 160 random bits and 40 of a MAC', () => {
    const issued = Array.from({ length: 500 }, () => secrets.issue().key);
    for (const one of issued) expect(one).toMatch(/^slc_[0-9a-hjkmnp-tv-z]{40}$/);
    expect(new Set(issued).size).toBe(500);
    // Each of the 32 random places takes each of 32 characters: 5 bits a place.
    for (let place = 4; place < 4 + 32; place++) {
      expect(new Set(issued.map((one) => one[place])).size).toBeGreaterThan(24);
    }
  });

  it('knows its own keys, and each by a hash of its own that tells nothing of the key', () => {
    const issued = Array.from({ length: 100 }, () => secrets.issue());
    for (const one of issued) expect(secrets.hash(one.key)).toEqual(one.hash);
    expect(issued.every((one) => one.hash.length === 32)).toBe(true);
    expect(new Set(issued.map((one) => one.hash.toString('hex'))).size).toBe(100);
    // The end of a key is the beginning of its MAC: the stored hash must not be that MAC.
    const mac = Array.from(key.slice(-8), (character) => alphabet.indexOf(character).toString(2).padStart(5, '0'));
    const bits = [...hash].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    expect(bits).not.toContain(mac.join(''));
    expect(hash.toString('latin1')).not.toContain(key);
  });

  it('refuses a key of which any character was changed', () => {
    for (let place = 0; place < key.length; place++) {
      for (const character of `${alphabet}ilouA_ \u0000é`) {
        if (character === key[place]) continue;
        expect(secrets.hash(key.slice(0, place) + character + key.slice(place + 1))).toBeNull();
      }
    }
  });

  it('refuses a key that was cut, lengthened, written in capitals or put in blanks', () => {
    const others = ['', key.slice(1), key.slice(0, -1), `${key}0`, key.toUpperCase(), ` ${key}`, `${key}\n`, key + key];
    for (const other of others) expect(secrets.hash(other)).toBeNull();
  });

  it('refuses whatever it has not issued', () => {
    const guess = fc.string({ unit: fc.constantFrom(...alphabet.split('')), minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          guess.map((text) => `slc_${text}`),
        ),
        (presented) => {
          expect(secrets.hash(presented)).toBeNull();
        },
      ),
    );
  });

  it('refuses what was issued under another pepper', () => {
    const others = new KeySecrets('q'.repeat(32));
    expect(others.hash(key)).toBeNull();
    expect(secrets.hash(others.issue().key)).toBeNull();
  });
});
