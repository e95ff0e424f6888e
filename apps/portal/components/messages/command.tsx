import type { ComponentChildren } from 'preact';
import { CopyButton } from '../button.js';
import { SHOWN_KEY } from './code.js';

interface CommandProps {
  /** What it does, for screen readers. */
  readonly label: string;
  /** The command with a key; without one, the command needs none. */
  readonly text: (key: string) => string;
  /** What it needs to work as it is pasted. Null if the visitor has none that may do it. */
  readonly apiKey?: string | null;
  /** What stands above it. */
  readonly children: ComponentChildren;
}

/** A command to paste. The key is copied with it, but not shown on the screen. */
export function Command({ label, text, apiKey = null, children }: CommandProps) {
  return (
    <div class="stack">
      <div class="command-header">
        {children}
        <CopyButton text={text(apiKey ?? '<API_KEY>')} what="command" />
      </div>
      <pre class="body command" tabIndex={0} aria-label={label}>
        {text(apiKey === null ? '<API_KEY>' : SHOWN_KEY)}
      </pre>
    </div>
  );
}
