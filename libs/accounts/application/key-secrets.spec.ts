import { KeySecrets } from './key-secrets.js';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const secrets = new KeySecrets('p'.repeat(32));
const { key, hash } = secrets.issue();

describe('KeySecrets', () => {
  it('issues keys with a known prefix, 160 random bits and a MAC of 40 bits', () => {
    const issued = Array.from({ length: 500 }, () => secrets.issue().key);
    for (const one of issued) expect(one).toMatch(/^slc_[0-9a-hjkmnp-tv-z]{40}$/);
    expect(new Set(issued).size).toBe(500);
    // Each of the 32 random places takes each of 32 characters: 5 bits a place.
    for (let place = 4; place < 4 + 32; place++) {
      expect(new Set(issued.map((one) => one[place])).size).toBeGreaterThan(24);
    }
  });

  it('hashes each of its keys to 32 bytes that reveal nothing of the key', () => {
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

  it('rejects a key with any other character in any place', () => {
    for (let place = 0; place < key.length; place++) {
      for (const character of `${alphabet}ilouA_ \u0000é`) {
        if (character === key[place]) continue;
        expect(secrets.hash(key.slice(0, place) + character + key.slice(place + 1))).toBeNull();
      }
    }
  });

  it('also recognizes the keys of a previous pepper, and issues none', () => {
    const rotated = new KeySecrets('q'.repeat(32), 'p'.repeat(32));
    expect(rotated.hash(key)).toEqual(hash);
    const next = rotated.issue();
    expect(rotated.hash(next.key)).toEqual(next.hash);
    expect([secrets.isOurs(next.key), new KeySecrets('q'.repeat(32)).isOurs(next.key)]).toEqual([false, true]);
    expect(rotated.fingerprints).toEqual([...new KeySecrets('q'.repeat(32)).fingerprints, ...secrets.fingerprints]);
    expect(new Set(rotated.fingerprints).size).toBe(2);
  });

  it('rejects a key that is cut, extended, in capitals or between blanks, and one of another pepper', () => {
    const foreign = new KeySecrets('q'.repeat(32));
    const others = ['', key.slice(1), key.slice(0, -1), `${key}0`, key.toUpperCase(), ` ${key}`, `${key}\n`, key + key];
    for (const other of [...others, foreign.issue().key]) expect(secrets.hash(other)).toBeNull();
    expect(foreign.hash(key)).toBeNull();
  });
});
