import type { OperatorsAccount, OperatorsAccountChanges } from '#client/index.js';
import { announce } from '../components/announcer.js';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { Card } from '../components/parts.js';
import { fieldError, Problem } from '../components/problem.js';
import { useAction, useEdits } from '../loading/hooks.js';

interface NameProps {
  readonly account: OperatorsAccount;
  readonly change: (changes: OperatorsAccountChanges) => Promise<unknown>;
}

/** Renames an account, and changes what the operator's own systems call it. */
export function NameCard({ account, change }: NameProps) {
  const { shown, changed, isChanged, edit, saved } = useEdits({
    name: account.name,
    externalId: account.externalId ?? '',
  });
  const { run, isRunning, error } = useAction(async () => {
    await change({ ...changed, ...(changed.externalId === '' && { externalId: null }) });
    saved(shown);
    announce('The account is changed.');
  });
  return (
    <Card title="Change the name">
      <Form
        onSubmit={() => {
          if (isChanged) void run();
        }}
      >
        <Field label="Name" error={fieldError(error, '/name')}>
          {(tied) => (
            <input
              {...tied}
              required
              value={shown.name}
              onInput={({ currentTarget }) => {
                edit({ name: currentTarget.value });
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
              value={shown.externalId}
              onInput={({ currentTarget }) => {
                edit({ externalId: currentTarget.value });
              }}
            />
          )}
        </Field>
        <Problem error={error} fields={['/name', '/externalId']} />
        <div class="actions">
          <Button type="submit" label="Save the name" isBusy={isRunning} isDisabled={!isChanged}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}
