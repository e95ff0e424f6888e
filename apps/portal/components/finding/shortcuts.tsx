import { useEffect } from 'preact/hooks';
import { hrefOf, idIn } from '../../navigation/finding.js';
import { useOpened } from '../../loading/hooks.js';
import { open as openView, route } from '../../navigation/router.js';
import { Dialog } from '../dialog.js';
import { Icon } from '../icon.js';
import { Fact, Facts } from '../parts.js';
import type { Place } from '../shell/shell.js';
import { hasKeys, LIST_KEYS } from './keys.js';
import { Palette } from './palette.js';

const isTyping = ({ target }: Event) =>
  target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select') !== null;

/** A dialog has the keyboard for itself. */
const isInDialog = () => document.querySelector('dialog[open]') !== null;

/** What keys and pasting do everywhere, and a button for those without a keyboard. */
export function Shortcuts({ places }: { places: readonly Place[] }) {
  const {
    what: opened,
    open: openAt,
    close,
  } = useOpened<{ readonly dialog: 'palette' | 'help'; readonly hash: string }>();
  const open = (dialog: 'palette' | 'help') => {
    openAt({ dialog, hash: location.hash });
  };
  // Back leads to another view, over which a dialog would stay.
  useEffect(() => {
    if (opened !== null && opened.hash !== location.hash) close();
  }, [route.value]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isInDialog()) return;
      const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open('palette');
      } else if (!hasModifier && hasKeys.value && !isTyping(event)) {
        if (event.key === '?') open('help');
        else LIST_KEYS[event.key]?.();
      }
    };
    const paste = (event: ClipboardEvent) => {
      const id = idIn(event.clipboardData?.getData('text') ?? '');
      if (id !== undefined && !isTyping(event) && !isInDialog()) openView(hrefOf(id));
    };
    addEventListener('keydown', press);
    addEventListener('paste', paste);
    return () => {
      removeEventListener('keydown', press);
      removeEventListener('paste', paste);
    };
  }, []);
  return (
    <>
      <button
        type="button"
        class="docs-link"
        aria-keyshortcuts="Control+K"
        onClick={() => {
          open('palette');
        }}
      >
        <Icon name="find" /> <span>Find</span> <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      {opened?.dialog === 'palette' && <Palette places={places} onClose={close} />}
      {opened?.dialog === 'help' && <Help onClose={close} />}
    </>
  );
}

const HELP = [
  ['Ctrl or ⌘ and K', 'Find a page or a message'],
  ['j, k', 'The next row of a list, the one before'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['Ctrl or ⌘ and V', 'Open what has the id that was copied'],
  ['?', 'This help'],
] as const;

function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <Facts>
        {HELP.map(([keys, text]) => (
          <Fact key={keys} name={keys}>
            {text}
          </Fact>
        ))}
      </Facts>
      <label class="mode">
        <input
          type="checkbox"
          checked={hasKeys.value}
          onChange={({ currentTarget }) => {
            hasKeys.value = currentTarget.checked;
          }}
        />
        <span>
          <strong>Single keys</strong>
          <span class="hint">Without, only those with Ctrl or ⌘ do something.</span>
        </span>
      </label>
    </Dialog>
  );
}
