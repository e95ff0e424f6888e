import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Announcer } from './announcer.js';
import { IconButton } from './button.js';
import { focusHeading } from './parts.js';

/** Where the focus begins: not on the button that closes it. */
const FIRST = 'input, select, .secret-value button, footer button';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Without it, only what is in the dialog ends it. */
  readonly onClose?: () => void;
}

/** Modal: the browser keeps the focus in it. It is open for as long as it is rendered. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>(FIRST)?.focus();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else focusHeading();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        // Browsers close a dialog by a second Escape even if the event "cancel" was prevented.
        if (event.key === 'Escape' && onClose === undefined) event.preventDefault();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClose={() => {
        if (ref.current?.isConnected === true) ref.current.showModal();
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        {onClose !== undefined && <IconButton name="close" label="Close" onClick={onClose} />}
      </header>
      {children}
      <Announcer />
    </dialog>
  );
}
