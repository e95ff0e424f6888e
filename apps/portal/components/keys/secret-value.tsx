import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button, CopyButton } from '../button.js';
import { Icon } from '../icon.js';

interface SecretProps {
  readonly secret: string;
  /** What it is, such as "API key". */
  readonly what: string;
  readonly onStored: () => void;
  readonly children?: ComponentChildren;
}

/** A secret that is shown once: it is not left before it was copied without asking. */
export function Secret({ secret, what, onStored, children }: SecretProps) {
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
