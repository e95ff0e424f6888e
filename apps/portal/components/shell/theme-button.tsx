import { theme, THEMES } from '../../theme.js';
import { Icon } from '../icon.js';

const ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const;

export function ThemeButton() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Theme: ${theme.value}. Change to ${next}`}
      title={`Theme: ${theme.value}`}
      onClick={() => {
        theme.value = next;
      }}
    >
      <Icon name={ICONS[theme.value]} />
    </button>
  );
}
