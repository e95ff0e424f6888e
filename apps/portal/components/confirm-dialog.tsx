import type { ComponentChildren } from 'preact';
import type { Action } from '../loading/hooks.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { Problem } from './problem.js';

interface ConfirmDialogProps {
  readonly title: string;
  /** The text of the button that confirms. */
  readonly confirm: string;
  readonly look?: 'primary' | 'danger';
  readonly action: Action<[]>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before it runs an action, and shows why that failed. */
export function ConfirmDialog({ title, confirm, look = 'primary', action, onClose, children }: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Problem error={action.error} />
      <footer class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button look={look} isBusy={action.isRunning} onClick={() => void action.run()}>
          {confirm}
        </Button>
      </footer>
    </Dialog>
  );
}
