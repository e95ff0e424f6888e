import { useState } from 'preact/hooks';
import type { OperatorsAccount, OperatorsAccountChanges } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Card } from '../components/parts.js';
import { fieldError, Problem } from '../components/problem.js';
import { useAction } from '../hooks.js';

interface NameProps {
  readonly account: OperatorsAccount;
  readonly change: (changes: OperatorsAccountChanges) => Promise<unknown>;
}

/** Renames an account, and changes what the operator's own systems call it. */
export function NameCard({ account, change }: NameProps) {
  // What is not edited follows the account.
  const [edited, setEdited] = useState<{ readonly name?: string; readonly externalId?: string }>({});
  const { name = account.name, externalId = account.externalId ?? '' } = edited;
  const isSame = name === account.name && externalId === (account.externalId ?? '');
  const { run, isRunning, error } = useAction(async () => {
    const changes = { name, externalId: externalId === '' ? null : externalId };
    await change(changes);
    setEdited({});
    announce('The account is changed.');
  });
  return (
    <Card title="Change the name">
      <Form
        onSubmit={() => {
          if (!isSame) void run();
        }}
      >
        <Field label="Name" error={fieldError(error, '/name')}>
          {(tied) => (
            <input
              {...tied}
              required
              value={name}
              onInput={({ currentTarget }) => {
                setEdited({ ...edited, name: currentTarget.value });
              }}
            />
          )}
        </Field>
        <Field
          label="External id"
          hint="What your own systems call the account."
          error={fieldError(error, '/externalId')}
        >
          {(tied) => (
            <input
              {...tied}
              class="mono"
              maxLength={255}
              autocomplete="off"
              spellcheck={false}
              value={externalId}
              onInput={({ currentTarget }) => {
                setEdited({ ...edited, externalId: currentTarget.value });
              }}
            />
          )}
        </Field>
        <Problem error={error} fields={['/name', '/externalId']} />
        <div class="actions">
          <Button type="submit" label="Save the name" isBusy={isRunning} isDisabled={isSame}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}
