import { effect, signal } from '@preact/signals';
import { recall, remember } from '../../session/storage.js';

const STORED = 'sluice.keys';

/** Whether single keys do something: those who dictate, or press keys by mistake, can do without. */
export const hasKeys = signal(recall('localStorage', STORED) !== 'off');

effect(() => {
  remember('localStorage', STORED, hasKeys.value ? null : 'off');
});

/** What single keys do in a list. */
export const LIST_KEYS: Readonly<Record<string, () => void>> = {
  j: () => {
    move(1);
  },
  k: () => {
    move(-1);
  },
  x: () => {
    document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
  },
};

/** Moves the focus from row to row. */
function move(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main :is(.row-link, .attempts > li > p > a)')];
  const at = rows.findIndex((row) => row === document.activeElement || isBeside(row));
  rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]?.focus();
}

const isBeside = (row: HTMLElement) => row.closest('tr')?.contains(document.activeElement) === true;
