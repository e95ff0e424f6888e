import { useMemo, useState } from 'preact/hooks';
import type { NewApiKey, NewApiKeyInput, OnceOptions, Scope } from '#client/index.js';
import { useAction, useOnce } from '../../loading/hooks.js';
import { Button } from '../button.js';
import { Choice } from '../choice.js';
import { Dialog } from '../dialog.js';
import { Field } from '../field.js';
import { Form } from '../form.js';
import { fieldError, Problem } from '../problem.js';
import { ScopesField } from './scopes-field.js';

const DAY_MS = 86_400_000;

const EXPIRIES = [
  { label: 'Never', value: 0 },
  { label: 'In 7 days', value: 7 },
  { label: 'In 30 days', value: 30 },
  { label: 'In 90 days', value: 90 },
  { label: 'In a year', value: 365 },
];

interface CreateKeyProps {
  readonly offered: readonly Scope[];
  readonly create: (input: NewApiKeyInput, options: OnceOptions) => Promise<NewApiKey>;
  readonly onCreated: (created: NewApiKey) => void;
  readonly onClose: () => void;
}

export function CreateKeyDialog({ offered, create, onCreated, onClose }: CreateKeyProps) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [days, setDays] = useState(0);
  // From when it was chosen: a repetition sends the same.
  const expiresAt = useMemo(() => (days === 0 ? undefined : new Date(Date.now() + days * DAY_MS)), [days]);
  const once = useOnce();
  const { run, isRunning, error } = useAction(async () => {
    const input = { name, scopes: [...scopes], expiresAt };
    onCreated(await once(input, (idempotencyKey) => create(input, { idempotencyKey })));
  });
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <Form onSubmit={() => void run()}>
        <Field label="Name" hint="What the key is for." error={fieldError(error, '/name')}>
          {(tied) => (
            <input
              {...tied}
              required
              placeholder="billing"
              value={name}
              onInput={({ currentTarget }) => {
                setName(currentTarget.value);
              }}
            />
          )}
        </Field>
        <ScopesField
          hint="Choose what the program does, and nothing else."
          {...{ offered, value: scopes, onChange: setScopes }}
        />
        <Choice
          label="Expires"
          error={fieldError(error, '/expiresAt')}
          value={days}
          choices={EXPIRIES}
          onChange={setDays}
        />
        <Problem error={error} fields={['/name', '/expiresAt']} />
        <footer class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={isRunning} isDisabled={scopes.length === 0}>
            Create the key
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
