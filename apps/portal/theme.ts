import { effect, signal } from '@preact/signals';

const STORED = 'sluice.theme';
export const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(THEMES.find((name) => name === localStorage.getItem(STORED)) ?? 'system');

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(STORED, theme.value);
});
