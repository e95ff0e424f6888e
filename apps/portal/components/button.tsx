import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon.js';
import { announce } from './announcer.js';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => void;
  readonly type?: 'button' | 'submit';
  readonly look?: 'primary' | 'plain' | 'danger';
  readonly icon?: IconName;
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  readonly label?: string;
}

/** Stays focusable while it is busy, so that the focus is not lost. */
export function Button(props: ButtonProps) {
  const { children, onClick, type = 'button', look = 'plain', icon, isBusy = false, isDisabled = false, label } = props;
  return (
    <button
      type={type}
      class={`button ${look}`}
      aria-disabled={isBusy || isDisabled}
      aria-busy={isBusy}
      aria-label={label}
      onClick={(event) => {
        // The second click of a double click: what the first one began may be done, and another action in its place.
        const isAgain = event.detail > 1;
        if (isBusy || isDisabled || isAgain) event.preventDefault();
        else onClick?.();
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

export function IconButton({ name, label, onClick }: { name: IconName; label: string; onClick: () => void }) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={onClick}>
      <Icon name={name} />
    </button>
  );
}

const COPIED_MS = 2_000;

interface CopyButtonProps {
  /** What is copied. */
  readonly text: string;
  /** What it is, such as "API key". */
  readonly what: string;
  readonly onCopied?: () => void;
  readonly look?: 'primary' | 'plain' | 'icon';
  /** What a button that is no icon says. */
  readonly children?: string;
}

export function CopyButton({ text, what, onCopied, look = 'icon', children = 'Copy' }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => {
      setIsCopied(false);
    }, COPIED_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [isCopied]);
  const copy = async () => {
    if (!(await copied(text))) {
      announce(`The ${what} could not be copied. Select it and copy it yourself.`);
      return;
    }
    setIsCopied(true);
    announce(`The ${what} is copied.`);
    onCopied?.();
  };
  const icon = isCopied ? 'check' : 'copy';
  if (look === 'icon') return <IconButton name={icon} label={`Copy the ${what}`} onClick={() => void copy()} />;
  return (
    <Button look={look} icon={icon} onClick={() => void copy()} label={`Copy the ${what}`}>
      {isCopied ? 'Copied' : children}
    </Button>
  );
}

/** Pages that were not loaded by HTTPS have no clipboard, but can copy what is selected. */
async function copied(text: string): Promise<boolean> {
  if (isSecureContext) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement('textarea');
  field.value = text;
  const dialog = document.querySelector('dialog[open]') ?? document.body;
  dialog.append(field);
  field.select();
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else copies on such a page
  const isDone = document.execCommand('copy');
  field.remove();
  return isDone;
}
