import { useUnloadWarning } from '../../loading/hooks.js';
import { issued, type Issued } from '../../session/issued.js';
import { CopyButton } from '../button.js';
import { Dialog } from '../dialog.js';
import { Secret } from './secret-value.js';

/** Shows what was issued. It is beside the views, so that leaving one does not lose it, not even before the response. */
export function IssuedSecret() {
  const [first] = issued.value;
  useUnloadWarning(first !== undefined);
  // A dialog of its own for each: that one is copied says nothing about the next.
  return first !== undefined && <IssuedDialog key={first.secret} issued={first} />;
}

function IssuedDialog({ issued: shown }: { issued: Issued }) {
  const { title, what, secret, hint, snippet, onStored } = shown;
  return (
    <Dialog title={title}>
      <Secret
        secret={secret}
        what={what}
        onStored={() => {
          issued.value = issued.value.filter((one) => one !== shown);
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
