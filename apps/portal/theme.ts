import { effect, signal } from '@preact/signals';
import { recall, remember } from './session/storage.js';

const STORED = 'sluice.theme';
export const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(THEMES.find((name) => name === recall('localStorage', STORED)) ?? 'system');

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  remember('localStorage', STORED, theme.value);
});
