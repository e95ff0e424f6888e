import { useUnloadWarning } from '../../hooks.js';
import { firstKey, issued, type Issued } from '../../session.js';
import { CopyButton } from '../button.js';
import { Dialog } from '../dialog.js';
import { Secret } from './secret-value.js';

/** What was issued and is not stored yet. It is beside the views, so that leaving one does not lose it. */
export function Secrets() {
  useUnloadWarning(firstKey.value !== null || issued.value !== null);
  return issued.value !== null && <IssuedDialog issued={issued.value} />;
}

function IssuedDialog({ issued: { title, what, secret, hint, snippet } }: { issued: Issued }) {
  return (
    <Dialog title={title}>
      <Secret
        secret={secret}
        what={what}
        onStored={() => {
          issued.value = null;
        }}
      >
        {hint !== undefined && <p class="hint">{hint}</p>}
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

export function FirstKey() {
  if (firstKey.value === null) return null;
  return (
    <section class="card first-key" aria-label="Your API key">
      <h2>Your API key</h2>
      <Secret
        secret={firstKey.value.key}
        what="API key"
        onStored={() => {
          firstKey.value = null;
        }}
      />
    </section>
  );
}
