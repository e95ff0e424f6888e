import { useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Choice } from '../components/choice.js';
import { Dialog } from '../components/dialog.js';
import { Field } from '../components/field.js';
import { Form } from '../components/form.js';
import { fieldError, Problem } from '../components/problem.js';
import { showFirstKey } from '../session/issued.js';
import { call } from '../session/connection.js';
import { useAction, useOnce, useOpened, useResource } from '../loading/hooks.js';
import { href, opener } from '../navigation/router.js';
import { allPlans } from './plans.js';

/** Creates an account, and shows its first key this once. */
export function CreateAccount() {
  const { what: isOpen, open, close } = useOpened<true>();
  return (
    <>
      <Button
        look="primary"
        onClick={() => {
          open(true);
        }}
      >
        Create an account
      </Button>
      {isOpen && <CreateDialog onClose={close} />}
    </>
  );
}

/** The plan that sign-ups get. */
const SIGNUP_PLAN = '';

function CreateDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [plan, setPlan] = useState(SIGNUP_PLAN);
  const plans = useResource(allPlans, []);
  const [externalId, setExternalId] = useState('');
  const once = useOnce();
  const { run, isRunning, error } = useAction(async () => {
    const openNew = opener();
    const input = {
      name,
      plan: plan === SIGNUP_PLAN ? undefined : plan,
      externalId: externalId === '' ? undefined : externalId,
    };
    const { id, apiKey } = await once(input, (idempotencyKey) =>
      call((client) => client.admin.accounts.create(input, { idempotencyKey })),
    );
    onClose();
    showFirstKey(apiKey, () => {
      openNew(href(`accounts/${id}`));
    });
  });
  return (
    <Dialog title="Create an account" onClose={onClose}>
      <Form onSubmit={() => void run()}>
        <Field label="Name" error={fieldError(error, '/name')}>
          {(tied) => (
            <input
              {...tied}
              required
              placeholder="Acme"
              value={name}
              onInput={({ currentTarget }) => {
                setName(currentTarget.value);
              }}
            />
          )}
        </Field>
        <Choice
          label="Plan"
          value={plan}
          choices={[
            { value: SIGNUP_PLAN, label: 'As for a sign-up' },
            ...(plans.data ?? []).map((one) => ({ value: one.name, label: one.name })),
          ]}
          onChange={setPlan}
        />
        <Field
          label="External id"
          hint="What your own systems call the account, if anything."
          error={fieldError(error, '/externalId')}
        >
          {(tied) => (
            <input
              {...tied}
              class="mono"
              maxLength={255}
              autocomplete="off"
              spellcheck={false}
              placeholder="customer-4711"
              value={externalId}
              onInput={({ currentTarget }) => {
                setExternalId(currentTarget.value);
              }}
            />
          )}
        </Field>
        <Problem error={error} fields={['/name', '/externalId']} />
        <footer class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={isRunning}>
            Create the account
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
