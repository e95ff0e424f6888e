import type { Account, NewApiKey, Scope } from '#client/index.js';
import { recall, remember } from './storage.js';

const STORED = 'sluice.profile';

/** What is known of the key: a reload shows it also while requests are refused. */
interface Profile {
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly account: Account | null;
  readonly firstKey: NewApiKey | null;
  readonly expiresAt: string | null;
}

export function recalledProfile(): Profile | null {
  try {
    return JSON.parse(recall('sessionStorage', STORED) ?? 'null') as Profile | null;
  } catch {
    return null;
  }
}

export function keepProfile(profile: Profile | null): void {
  remember('sessionStorage', STORED, profile && JSON.stringify(profile));
}
