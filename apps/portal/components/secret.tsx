import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useUnloadWarning } from '../hooks.js';
import { firstKey, issued, type Issued } from '../session.js';
import { Button, CopyButton } from './button.js';
import { Dialog } from './dialog.js';
import { Icon } from './icon.js';

interface SecretProps {
  readonly secret: string;
  /** What it is, such as "API key". */
  readonly what: string;
  readonly onStored: () => void;
  readonly children?: ComponentChildren;
}

/** A secret that is shown once: it is not left before it was copied without asking. */
function Secret({ secret, what, onStored, children }: SecretProps) {
  const [isCopied, setIsCopied] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  return (
    <div class="secret">
      <p class="warning">
        <Icon name="warning" /> Store this {what} now. It is shown only once.
      </p>
      <div class="secret-value">
        <code tabIndex={0} aria-label={what}>
          {secret}
        </code>
        <CopyButton
          look="primary"
          text={secret}
          what={what}
          onCopied={() => {
            setIsCopied(true);
            setIsAsking(false);
          }}
        />
      </div>
      {children}
      <div class="actions" aria-live="polite">
        {isAsking && <p class="field-error">You have not copied it with the button. Is it stored?</p>}
        <Button
          look={isAsking ? 'danger' : 'plain'}
          onClick={() => {
            if (isCopied || isAsking) onStored();
            else setIsAsking(true);
          }}
        >
          {isAsking ? 'Yes, it is stored' : 'I have stored it'}
        </Button>
      </div>
    </div>
  );
}

/** What was issued and is not stored yet. It is beside the views, so that leaving one does not lose it. */
export function Secrets() {
  useUnloadWarning(firstKey.value !== null || issued.value !== null);
  return issued.value !== null && <IssuedDialog issued={issued.value} />;
}

function IssuedDialog({ issued: { title, what, secret, hint } }: { issued: Issued }) {
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
