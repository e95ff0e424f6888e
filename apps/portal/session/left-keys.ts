import { recall, remember } from './storage.js';

const STORED = 'sluice.left';
/** Tabs that come back after more keys than these are not known to have been signed out. */
const REMEMBERED = 50;

/**
 * Whether the tabs have left a key, by signing out or with another one in its place: a tab that shows a page elsewhere is
 * not told, but reads this when it comes back.
 */
export function isLeft(key: string): boolean {
  return hashes().includes(hashOf(key));
}

/** @param left false once somebody has signed in with it again */
export function markLeft(key: string, left: boolean): void {
  const hash = hashOf(key);
  const others = hashes().filter((one) => one !== hash);
  const all = left ? [hash, ...others].slice(0, REMEMBERED) : others;
  remember('localStorage', STORED, all.length === 0 ? null : all.join(' '));
}

function hashes(): string[] {
  return (recall('localStorage', STORED) ?? '').split(' ').filter(Boolean);
}

/** FNV-1a, of which 32 bits tell nothing about a key: nothing of it stays in the browser. */
function hashOf(key: string): string {
  let hash = 0x811c9dc5;
  for (const character of key) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(36);
}
