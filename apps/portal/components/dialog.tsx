import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { IconButton } from './button.js';

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
  useEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        // Browsers close a dialog by a second Escape, whatever is said to the event "cancel".
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
    </dialog>
  );
}
