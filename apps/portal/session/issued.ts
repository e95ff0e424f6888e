import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { NewApiKey } from '#client/index.js';

/** What nothing shows again. */
export interface Issued {
  /** Like "The key is created". */
  readonly title: string;
  readonly what: 'API key' | 'signing secret' | 'portal link';
  readonly secret: string;
  readonly hint?: ComponentChildren;
  /** A program that uses it. */
  readonly snippet?: string | undefined;
  readonly onStored?: (() => void) | undefined;
}

/** Keys and secrets that the visitor has not stored yet, of which the first one is shown. */
export const issued = signal<readonly Issued[]>([]);

export function showOnce(one: Issued): void {
  issued.value = [...issued.value, one];
}

/** For a secret that works no more. */
export function withdraw(secret: string): void {
  issued.value = issued.value.filter((one) => one.secret !== secret);
}

/** The first key of an account that has just been created. */
export function showFirstKey({ key }: NewApiKey, onStored?: () => void): void {
  const hint = 'It is the first key of the account, and has all scopes.';
  showOnce({ title: 'The account is created', what: 'API key', secret: key, hint, onStored });
}
