import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useUnloadWarning } from '../../hooks.js';
import { CopyButton } from '../button.js';
import { Dialog } from '../dialog.js';
import { Secret } from './secret-value.js';

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

/** A key or secret, until the visitor has stored it. */
export const issued = signal<Issued | null>(null);

/** Shows what was issued. It is beside the views, so that leaving one does not lose it, not even before the response. */
export function IssuedSecret() {
  useUnloadWarning(issued.value !== null);
  return issued.value !== null && <IssuedDialog issued={issued.value} />;
}

function IssuedDialog({ issued: { title, what, secret, hint, snippet, onStored } }: { issued: Issued }) {
  return (
    <Dialog title={title}>
      <Secret
        secret={secret}
        what={what}
        onStored={() => {
          issued.value = null;
          onStored?.();
        }}
      >
        {hint !== undefined && <div class="hint">{hint}</div>}
        {snippet !== undefined && (
          <details>
            <summary>Verify signatures with it, in Node.js</summary>
            <pre class="body" tabIndex={0} aria-label="A function that verifies signatures">
              {snippet}
            </pre>
            <CopyButton text={snippet} what="function" />
          </details>
        )}
      </Secret>
    </Dialog>
  );
}
