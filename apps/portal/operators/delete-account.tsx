import { useState } from 'preact/hooks';
import type { OperatorsAccount } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Dialog } from '../components/dialog.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Problem } from '../components/problem.js';
import { call } from '../session/connection.js';
import { nameHidden } from '../text/hidden-characters.js';
import { useAction } from '../loading/hooks.js';
import { href, opener } from '../navigation/router.js';

/** Deletes an account once its name is typed. */
export function DeleteDialog({ account: { id, name }, onClose }: { account: OperatorsAccount; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const shown = inOneLine(nameHidden(name));
  const isRight = [shown, inOneLine(name)].includes(inOneLine(typed));
  const { run, isRunning, error } = useAction(async () => {
    const leave = opener();
    await call((client) => client.admin.accounts.delete(id));
    announce('The account is deleted.');
    leave(href('accounts'));
  });
  return (
    <Dialog title={`Delete “${shown}”?`} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (isRight) void run();
        }}
      >
        <p>
          Within a second, its keys are unknown and nothing more of it is delivered. Its messages, keys and endpoints
          are removed for good. This cannot be undone.
        </p>
        <Field label={`Type ${shown} to confirm`}>
          {(tied) => (
            <input
              {...tied}
              required
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={({ currentTarget }) => {
                setTyped(currentTarget.value);
              }}
            />
          )}
        </Field>
        <Problem error={error} />
        <footer class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" isBusy={isRunning} isDisabled={!isRight}>
            Delete the account
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

/** As browsers show it in a line, and as it can be typed: with one space for all white space. */
const inOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');
