import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** What nothing shows again. */
export interface Issued {
  /** Like "The key is created". */
  readonly title: string;
  readonly what: 'API key' | 'signing secret' | 'portal link';
  readonly secret: string;
  readonly hint?: ComponentChildren;
  /** A program that uses it. */
  readonly snippet?: string | undefined;
  readonly onStored?: () => void;
}

/** Keys and secrets that the visitor has not stored yet, of which the first one is shown. */
export const issued = signal<readonly Issued[]>([]);

export function showOnce(one: Issued): void {
  issued.value = [...issued.value, one];
}
