import { useState } from 'preact/hooks';
import type { DeliveryMode } from '#client/index.js';
import { pause } from '../../connection.js';
import { useAction } from '../../hooks.js';
import { account, changeAccount } from '../../session.js';
import { announce } from '../announcer.js';
import { Button } from '../button.js';
import { Form } from '../form.js';
import { Card } from '../parts.js';
import { Problem } from '../problem.js';
import { DeliveryWarning } from './delivery-warning.js';

const MODES: Readonly<Record<DeliveryMode, { readonly title: string; readonly text: string }>> = {
  handler: { title: 'Worker', text: 'By the workers that the operator runs.' },
  webhooks: { title: 'Webhooks', text: 'Posted to your endpoints, signed and retried for three days.' },
  pull: { title: 'Pull', text: 'Your programs lease messages and acknowledge them.' },
};

export function DeliveryCard() {
  const current = account.value?.delivery;
  const [chosen, setChosen] = useState<DeliveryMode | null>(null);
  const mode = chosen ?? current;
  const { run, isRunning, error } = useAction(async (delivery: DeliveryMode) => {
    await changeAccount({ delivery });
    setChosen(null);
    announce(`New messages are delivered this way: ${MODES[delivery].title}.`);
  });
  return (
    <Card title="How your messages are delivered">
      <Form
        onSubmit={() => {
          if (mode !== undefined && mode !== current) void run(mode);
        }}
      >
        <fieldset class="modes">
          <legend class="visually-hidden">How your messages are delivered</legend>
          {Object.entries(MODES).map(([name, { title, text }]) => (
            <label key={name} class="mode">
              <input
                type="radio"
                name="delivery"
                checked={name === mode}
                onChange={() => {
                  setChosen(name as DeliveryMode);
                }}
              />
              <span>
                <strong>{title}</strong>
                <span class="hint">{text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div aria-live="polite">
          <DeliveryWarning mode={mode} />
        </div>
        <div class="actions">
          <Button type="submit" isBusy={isRunning} isDisabled={mode === current || pause.value !== null}>
            Save
          </Button>
          <span class="hint">A change applies to messages that are accepted from then on.</span>
        </div>
      </Form>
      <Problem error={error} />
    </Card>
  );
}
